import { number } from "../format.ts";
import type { PrecedentTexts } from "./precedent-text.en.ts";

export const text: PrecedentTexts = {
  title: "Vorher",
  said: ({ approved, edited }, who) =>
    approved ? `${edited ? "Mit Änderungen freigegeben" : "Freigegeben"} von ${who}` : `Abgelehnt von ${who}`,
  same: "Mit denselben Argumenten",
  changes: "Was jetzt anders ist",
  kinds: { added: "neu", removed: "nicht mehr dabei" },
  secret: "Unterscheidet sich, und enthält ein Geheimnis",
  long: "Unterscheidet sich, und ist zu lang für einen Vergleich",
  more: (n) => `${number(n)} weitere unterscheiden sich`,
  earlier: (n) => `${number(n)} weitere von früher`,
  failed: "Frühere Entscheidungen konnten nicht geladen werden.",
};
