/** The words of the programs that ask, in German. */
import { count, duration, number, percent } from "../../format.ts";
import type { AgentsTexts } from "./text.en.ts";

export const text: AgentsTexts = {
  title: "Alle, die fragen",
  failed: "Die Agenten konnten nicht geladen werden",
  none: "Noch kein Programm hat gefragt.",
  more: "Weitere Agenten zeigen",
  lastAsked: (ago) => `fragte ${ago}`,
  never: "fragte noch nie",
  waiting: (n) => `${number(n)} ${n === 1 ? "wartet" : "warten"} auf jemanden`,
  questions: (n) => `${count(n, "Frage", "Fragen")} an alle offen`,
  approved: (share, of) =>
    `${percent(share)} genehmigt von ${of === 1 ? "der neuesten Entscheidung" : `den ${number(of)} neuesten Entscheidungen`}`,
  wait: (ms) => `mittlere Wartezeit ${duration(ms)}`,
  keys: (n) => count(n, "Schlüssel", "Schlüssel"),
  grants: (n) => count(n, "Dauererlaubnis", "Dauererlaubnisse"),
  frozen: "Eingefroren",
};
