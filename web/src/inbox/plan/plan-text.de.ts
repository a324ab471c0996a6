import { count, number } from "../../format.ts";
import type { PlanTexts } from "./plan-text.en.ts";

const approve = (n: number, of: number): string => {
  if (n === of) return `${count(n, "Aufruf", "Aufrufe")} genehmigen`;
  return n === 1 ? `Den ersten von ${number(of)} genehmigen` : `Die ersten ${number(n)} von ${number(of)} genehmigen`;
};
const from = (place: number, of: number): string =>
  place === of ? `Aufruf ${number(place)}` : `Aufrufe ${number(place)} bis ${number(of)}`;

export const text: PlanTexts = {
  calls: "Aufrufe, in dieser Reihenfolge",
  evidence: "Belege",
  evidenceLead: (agent) => `Gezeigt von ${agent}. Ein Programm hat sie ausgesucht; niemand hat sie geprüft.`,
  kinds: { markdown: "Text", diff: "Diff", table: "Tabelle", link: "Link", image: "Bild" },
  image: (n) => `Bild, Beleg Nummer ${number(n)}, ohne Titel`,
  arguments: (place) => `Argumente von Aufruf ${number(place)}`,
  risky: (n, places) => `${count(n, "Aufruf hat", "Aufrufe haben")} ein hohes Risiko: ${places}`,
  takeOut: "Ab hier herausnehmen",
  takeOutOf: (place, of) => `Ab hier herausnehmen: ${from(place, of)}`,
  putBack: "Wieder hinein",
  putBackOf: (place, of) => `Wieder hinein: ${from(place, of)}`,
  out: "Herausgenommen",
  tookOut: (place, of) => `Herausgenommen: ${from(place, of)}.`,
  isBack: (of) => `Wieder dabei: ${count(of, "Aufruf", "Aufrufe")}.`,
  allOut: "Alle Aufrufe sind herausgenommen; das lehnt den Plan ab.",
  approve,
  approveTitle: (n, of) => `${approve(n, of)}?`,
  rejectTitle: (of) => `${count(of, "Aufruf", "Aufrufe")} ablehnen?`,
  approveLead: (agent) =>
    `${agent} darf jeden davon einmal ausführen, in dieser Reihenfolge und mit den gezeigten Argumenten.`,
  rejectLead: "Keiner der Aufrufe wird ausgeführt.",
  rejects: (place, of) => `Damit abgelehnt: ${from(place, of)}.`,
  grave: (n) => `Darunter ${count(n, "Aufruf", "Aufrufe")} mit hohem Risiko:`,
  more: (n) => `und ${number(n)} weitere`,
  approved: (n, of) =>
    n === of
      ? `Genehmigt: ${count(n, "Aufruf", "Aufrufe")}, also alle.`
      : `Genehmigt: die ersten ${number(n)} von ${number(of)} Aufrufen.`,
  noneApproved: (of) => `Genehmigt: keiner von ${count(of, "Aufruf", "Aufrufen")}.`,
};
