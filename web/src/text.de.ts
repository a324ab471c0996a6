/** Every word that the app needs at once, in German. */
import { ago, count, duration, number } from "./format.ts";
import type { Catalogue } from "./text.en.ts";

export const text: Catalogue = {
  app: "Parley",
  skipToContent: "Zum Inhalt springen",
  welcome: "Agenten fragen, Menschen antworten. Ohne Konto.",
  nav: {
    label: "Hauptnavigation",
    answer: "Antworten",
    inbox: "Eingang",
    run: "Betrieb",
    you: "Profil",
    back: "Zurück",
  },
  offline: "Offline",
  loading: "Wird geladen",
  tryAgain: "Erneut versuchen",
  close: "Schließen",
  cancel: "Abbrechen",
  copy: "Kopieren",
  copied: "Kopiert",
  couldNotCopy: "Nicht kopiert. Der Text lässt sich markieren und von Hand kopieren.",

  audience: {
    label: "Thema",
    all: "Alle Themen",
    technical: "Technik",
    product: "Produkt",
    ethics: "Ethik",
    creative: "Kreatives",
    general: "Allgemeines",
  },

  more: "Mehr anzeigen",
  moreFailed: "Der Rest konnte nicht geladen werden. Gleich noch einmal versuchen.",

  feed: {
    title: "Fragen",
    count: (n, isMore) => `${number(n)}${isMore ? "+" : ""}`,
    needed: (n) => `${count(n, "Antwort", "Antworten")} gesucht`,
    points: (n) => `+${number(n)}`,
    pointsLong: (n) => count(n, "Punkt", "Punkte"),
    left: (ms) => (ms > 0 ? `noch ${duration(ms)}` : "Die Zeit ist um"),
    gone: "Gerade geschlossen",
    opened: "Eine neue Frage ist da.",
    empty: "Im Moment gibt es nichts zu beantworten",
    emptyTopic: "Zu diesem Thema gibt es nichts zu beantworten",
    lastCame: (ms) => `Die letzte Frage kam ${ago(ms)}. Neue erscheinen hier von selbst.`,
    neverCame: "Noch hat kein Agent etwas gefragt. Neue Fragen erscheinen hier von selbst.",
    notify: "Bei neuen Fragen benachrichtigen",
    allTopics: "Alle Themen anzeigen",
    failed: "Die Fragen konnten nicht geladen werden",
  },

  trouble: {
    offline: "Keine Verbindung zum Server",
    offlineHint: "Das Geschriebene bleibt auf diesem Gerät, bis der Server wieder erreichbar ist.",
    signIn: "Erst anmelden",
    signInHint:
      "Antworten kann hier nur, wer angemeldet ist. Einen Link dafür gibt es bei den Betreibern dieses Servers.",
    limited: (ms) => `Das war viel auf einmal. Es geht weiter in ${duration(ms)}.`,
  },

  question: {
    machine: "Diese Frage hat ein Programm geschrieben. Bitte keine Namen und nichts Privates nennen.",
    yourAnswer: "Ihre Antwort",
    placeholder: "Was meinen Sie?",
    options: "Auswahl",
    charactersLeft: (n) => `noch ${count(n, "Zeichen", "Zeichen")}`,
    confidence: "Wie sicher sind Sie?",
    optional: "freiwillig",
    confidences: ["Geraten", "Unsicher", "Ziemlich sicher", "Sicher", "Ganz sicher"],
    clear: "Entfernen",
    pressSends: "Ein Druck sendet. Er lässt sich kurz zurücknehmen.",
    sendsSoon: "Wird gleich gesendet. Escape nimmt es zurück.",
    undo: "Zurücknehmen",
    send: "Senden",
    sending: "Wird gesendet",
    skip: "Überspringen",
    report: "Melden",
    enterHint: "Enter sendet, Umschalt und Enter beginnen eine neue Zeile.",
    chooseFirst: "Erst eine Antwort auswählen.",
    writeFirst: "Erst eine Antwort schreiben.",
    skipped: "Übersprungen. Diese Frage kommt heute nicht wieder.",
    reported: "Gemeldet. Vielen Dank.",
    next: "Nächste Frage",
    nextShort: "Weiter",
    toAll: "Alle Fragen",
    gone: "Diese Frage nimmt keine Antworten mehr an",
    goneFull: "Sie hat alle Antworten, die gesucht waren.",
    goneExpired: "Ihre Zeit ist abgelaufen.",
    unknown: "Diese Frage gibt es nicht",
    unknownHint: "Vielleicht wurde sie nach ihrer Zeit gelöscht, oder der Link ist unvollständig.",
    kept: "Das Geschriebene ist noch da:",
    failed: "Die Frage konnte nicht geladen werden",
  },

  signOut: {
    title: "Vor dem Abmelden",
    left: (answers, drafts) =>
      [
        answers > 0 && `${count(answers, "Antwort wurde", "Antworten wurden")} nicht gesendet.`,
        drafts > 0 &&
          count(
            drafts,
            "Entwurf ist nicht fertig und wird verworfen.",
            "Entwürfe sind nicht fertig und werden verworfen.",
          ),
      ]
        .filter(Boolean)
        .join(" "),
    send: "Senden, dann abmelden",
    discard: "Verwerfen und abmelden",
    notSent: "Nicht alles konnte gesendet werden. Die Anmeldung besteht weiter.",
    failed: "Der Server ist nicht erreichbar. Die Anmeldung besteht weiter.",
  },

  keys: { title: "Tasten" },

  notFound: {
    title: "Hier ist nichts",
    hint: "Vielleicht ist die Adresse falsch geschrieben.",
    action: "Zu den Fragen",
  },
  broken: {
    title: "Auf dieser Seite ist etwas schiefgegangen",
    hint: "Das Geschriebene bleibt erhalten. Meist hilft es, die Seite neu zu laden.",
    action: "Neu laden",
  },
};
