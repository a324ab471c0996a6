import type { HandOnTexts } from "./hand-on-text.en.ts";

export const text: HandOnTexts = {
  title: "Weitergeben",
  lead: "Es fehlt dann in Ihrer Liste und steht dort an erster Stelle. Wer entscheiden darf, bleibt gleich.",
  to: "An",
  search: "Namen suchen",
  people: "Personen",
  group: (name) => `${name} (Gruppe)`,
  nobody: "Sonst darf niemand hierüber entscheiden.",
  away: (day) => `abwesend bis ${day}`,
  note: "Notiz",
  noteHint: "Sie steht bei der Anfrage.",
  send: "Weitergeben",
  back: "Zurückgeben",
  takeBack: "Zurückholen",
  done: "Weitergegeben.",
  isBack: "Wieder in Ihrer Liste.",
};
