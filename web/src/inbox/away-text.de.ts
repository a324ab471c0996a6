import type { AwayTexts } from "./away-text.en.ts";

export const text: AwayTexts = {
  title: "Abwesenheit",
  lead: "Ihre Vertretung erfährt, worüber sie ohnehin entscheiden darf, und hat es in ihrer Liste an erster Stelle.",
  until: "Zurück am",
  standIn: "Vertretung",
  nobody: "Niemand",
  awayUntil: (name, day) => `${name} (abwesend bis ${day})`,
  save: "Speichern",
  back: "Ich bin zurück",
  away: (day) => `Sie sind bis ${day} abwesend`,
  standsIn: (name) => `${name} vertritt Sie.`,
  saved: "Gespeichert.",
  failed: "Das ging nicht. Versuchen Sie es noch einmal.",
  isBack: "Sie sind zurück.",
};
