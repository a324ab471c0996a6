import { number } from "../format.ts";
import type { KeyTexts } from "./text.en.ts";

export const text: KeyTexts = {
  actions: {
    next: "Weiter",
    previous: "Zurück",
    choose: "Eine Antwort auswählen",
    tick: "Ankreuzen",
    takeOut: "Ab hier herausnehmen",
    send: "Senden, oder weitergehen",
    open: "Öffnen",
    undo: "Zurücknehmen, bevor gesendet wird",
    approve: "Freigeben, nach einer Rückfrage",
    changes: "Änderungen verlangen, nach einer Rückfrage",
    reject: "Ablehnen, nach einer Rückfrage",
    snooze: "Zurückstellen, bis zu einer gewählten Zeit",
    takeBack: "Die letzte Entscheidung zurücknehmen",
    handOn: "An jemand anderen weitergeben",
    askBack: "Den Agenten zurückfragen",
    edit: "Die Argumente ändern",
    begin: "Neues Gespräch",
    write: "Eine Antwort schreiben",
    newTask: "Neue Aufgabe",
    search: "Suchen",
    palette: "Eine Aktion finden",
    list: "Die Tasten zeigen",
  },
  now: "Auf dieser Seite",
  elsewhere: "Auf anderen Seiten dieses Bereichs",
  off: "Die Einzeltasten sind ausgeschaltet. Unter „Profil“ lassen sie sich einschalten.",
  find: "Aktion, Anfrage oder Bereich",
  found: (n) => (n === 0 ? "Nichts gefunden" : `${number(n)} gefunden`),
  commands: {
    open: (sentence) => `Öffnen: ${sentence}`,
    show: (filter) => `Zeigen: ${filter}`,
    go: (place) => `Gehe zu: ${place}`,
  },
};
