import { number } from "../format.ts";
import type { RunTexts } from "./run-text.en.ts";

const by = (what: string, who: string | null): string => (who === null ? what : `${what} von ${who}`);

export const text: RunTexts = {
  title: "Alles aus diesem Lauf",
  lead: "Was der Agent Sie gefragt hat, was entschieden wurde und was daraus geworden ist. Das Neueste steht oben.",
  none: "Hierzu gibt es keinen Verlauf",
  noneHint: "Die Anfrage nennt keinen Lauf oder ist älter als die Verläufe.",
  toCard: "Zurück zur Anfrage",
  failed: "Der Verlauf konnte nicht geladen werden",
  older: "Ältere zeigen",
  new: (n) => `${number(n)} neu`,
  said: {
    asked: (_who, agent) => `${agent} hat gefragt`,
    pressed: (who) => by("Entscheidung gedrückt", who),
    undone: (who) => by("Entscheidung zurückgenommen", who),
    counted: (who) => `${by("Genehmigung gezählt", who)}, weitere sind nötig`,
    approved: (who) => by("Genehmigt", who),
    rejected: (who) => by("Abgelehnt", who),
    answered: (who) => by("Beantwortet", who),
    expired: () => "Abgelaufen",
    cancelled: () => "Zurückgezogen",
    asked_back: (who) => by("Rückfrage", who),
    inquiry_answered: (_who, agent) => `${agent} hat die Rückfrage beantwortet`,
    noted: (who) => by("Hinweis an den Agenten", who),
    note_given: (_who, agent) => `${agent === "" ? "Der Agent" : agent} hat den Hinweis erhalten`,
    started: (_who, agent) => `${agent} hat begonnen`,
    outcome: () => "",
    frozen: (who) => by("Eingefroren", who),
    thawed: (who) => by("Aufgetaut", who),
  },
};
