/** The words of the inbox that wait for somebody to need them: of its search, and of nobody being signed in; in German. */
import type { AsideTexts } from "./aside-text.en.ts";

export const text: AsideTexts = {
  search: "Suchen",
  searchOver: "Entschiedenes durchsuchen",
  searchOverHint: "Wer, was, Wörter, ein Tag (2026-11-23)",
  order: "Reihenfolge",
  orders: { deadline: "Nach Frist", asked: "Am längsten offen zuerst", risk: "Höchstes Risiko zuerst" },
  signedOut: "Für den Eingang ist eine Anmeldung nötig",
  signedOutHint:
    "Freigaben und Fragen richten sich hier namentlich an Menschen. Die Betreiber dieses Servers erstellen mit „parley link --person YOUR-ID“ einen Link; er gilt einmal.",
  codeFailed: "Dieser Link gilt nicht mehr",
  codeFailedHint: "Ein Link zum Anmelden gilt einmal, 30 Minuten lang. Bitte einen neuen geben lassen.",
  toQuestions: "Zu den Fragen an alle",
};
