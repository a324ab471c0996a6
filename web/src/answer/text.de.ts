/** Every word of Answer that is needed only after a question is on screen, in German. */
import { count, duration, number } from "../format.ts";
import type { AnswerTexts } from "./text.en.ts";

export const text: AnswerTexts = {
  waiting: {
    title: "Geschrieben, noch nicht gesendet",
    signedOut:
      "Sie sind abgemeldet. Ihre Antwort bleibt auf diesem Gerät und wird nach der nächsten Anmeldung gesendet.",
    hint: "Der Server ist nicht erreichbar. Ihre Antwort bleibt auf diesem Gerät und wird einmal gesendet, sobald es geht.",
    limited: (ms) =>
      `Die Grenze für diese Stunde ist erreicht. Ihre Antwort bleibt erhalten und wird in ${duration(ms)} gesendet.`,
    list: (n) => `${count(n, "Antwort wartet", "Antworten warten")} auf das Senden`,
    refusedList: (n) => `${count(n, "Antwort wurde", "Antworten wurden")} nicht angenommen`,
    sendNow: "Jetzt versuchen",
    discard: "Verwerfen",
    refused: "Ihre Antwort wurde nicht angenommen",
    reasons: {
      ALREADY_ANSWERED: "Sie hatten diese Frage schon beantwortet. Nur die erste Antwort zählt.",
      QUESTION_CLOSED: "Bevor Ihre Antwort ankam, hatte die Frage schon alle Antworten, oder ihre Zeit war um.",
      QUESTION_NOT_FOUND: "Die Frage gibt es nicht mehr.",
      SELF_ANSWER: "Wer eine Frage gestellt hat, kann sie nicht beantworten.",
      UNAUTHORIZED:
        "Zum Antworten ist hier eine Anmeldung nötig. Einen Link gibt es bei den Betreibern dieses Servers; danach noch einmal senden.",
    },
    edit: "Ändern und erneut senden",
  },

  result: {
    answered: "Diese Frage haben Sie beantwortet",
    points: (n) => `+${count(n, "Punkt", "Punkte")}`,
    capped: "Gesendet. Alle Punkte für heute sind schon verdient.",
    streak: (days) => `${count(days, "Tag", "Tage")} in Folge`,
    soFar: (have, need) => `Bisher ${number(have)} von ${count(need, "Antwort", "Antworten")}`,
    complete: (have) => (have === 1 ? "Die eine Antwort ist da" : `Alle ${number(have)} Antworten sind da`),
    expired: (have) => `Geschlossen mit ${count(have, "Antwort", "Antworten")}`,
    yours: "Ihre",
    votes: (n) => count(n, "Stimme", "Stimmen"),
    others: "Antworten anderer",
    firstVoice: "Ihre Antwort ist die erste. Weitere erscheinen hier, sobald sie kommen.",
    notShared: "Die Antworten sieht nur, wer gefragt hat.",
    newBadge: "Neues Abzeichen",
    failed: "Die Ergebnisse konnten nicht geladen werden.",
  },

  report: {
    title: "Diese Frage melden",
    lead: "Sie verschwindet sofort aus Ihrer Liste. Drei Meldungen halten sie für alle zurück, bis jemand nachgesehen hat.",
    reasons: {
      spam: "Spam oder Werbung",
      personal_data: "Fragt nach persönlichen Daten",
      unsafe: "Gefährlich oder verletzend",
      unclear: "Nicht zu verstehen",
      other: "Etwas anderes",
    },
    legend: "Was stimmt nicht?",
    comment: "Noch etwas dazu? (freiwillig)",
    send: "Melden",
    failed: "Die Meldung wurde nicht gesendet. Noch einmal versuchen, wenn der Server erreichbar ist.",
  },

  badges: {
    first_answer: ["Erste Schritte", "Die erste Antwort"],
    answers_10: ["Guter Anfang", "10 Antworten"],
    answers_100: ["Hundert", "100 Antworten"],
    answers_500: ["Alter Hase", "500 Antworten"],
    answers_1000: ["Legende", "1000 Antworten"],
    streak_3: ["In Fahrt", "3 Tage in Folge"],
    streak_7: ["Volle Woche", "7 Tage in Folge"],
    streak_30: ["Ein ganzer Monat", "30 Tage in Folge"],
    streak_100: ["Ausdauer", "100 Tage in Folge"],
    expert_technical: ["Technikwissen", "25 Antworten zur Technik"],
    expert_product: ["Produktwissen", "25 Antworten zu Produkten"],
    expert_ethics: ["Gewissen", "25 Antworten zur Ethik"],
    expert_creative: ["Kreativer Kopf", "25 kreative Antworten"],
    expert_general: ["Allgemeinwissen", "25 allgemeine Antworten"],
    early_bird: ["Frühaufsteher", "Innerhalb von 2 Minuten nach der Frage"],
    night_owl: ["Nachteule", "10 Antworten zwischen 0 und 6 Uhr"],
    speed_demon: ["Blitzschnell", "5 Antworten, jede innerhalb von 30 Sekunden"],
    confident: ["Überzeugt", "10 Antworten mit „Ganz sicher“"],
  },
};
