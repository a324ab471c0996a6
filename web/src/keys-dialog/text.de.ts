import type { KeyTexts } from "./text.en.ts";

export const text: KeyTexts = {
  choose: "Eine Antwort auswählen",
  press: "Eine Antwort auswählen und senden",
  undo: "Zurücknehmen, bevor gesendet wird",
  send: "Senden, oder weiter zur nächsten Frage",
  move: "Nächste und vorige Frage",
  decide: "Freigeben oder ablehnen, nach einer Rückfrage",
  snooze: "Zurückstellen, bis zu einer gewählten Zeit",
  search: "Entschiedenes durchsuchen",
  help: "Diese Liste zeigen",
  off: "Die Einzeltasten sind ausgeschaltet. Unter „Profil“ lassen sie sich einschalten.",
};
