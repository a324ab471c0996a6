import { count, number } from "../format.ts";
import type { BatchTexts } from "./batch-text.en.ts";

export const text: BatchTexts = {
  title: (n, fn) => `${count(n, "Aufruf", "Aufrufe")} von ${fn}`,
  same: "In jedem gleich",
  differing: "Aufrufe",
  call: "Aufruf",
  tickAll: "Alle außer denen mit hohem Risiko",
  tick: (sentence) => `Mit den anderen entscheiden: ${sentence}`,
  ticked: (n, of) => `${number(n)} von ${number(of)} angekreuzt`,
  left: (n) =>
    `${count(n, "Aufruf fällt auf oder hat", "Aufrufe fallen auf oder haben")} hohes Risiko: nicht angekreuzt.`,
  more: "Es warten noch mehr; sie folgen, wenn diese entschieden sind.",
  gone: "Anderswo entschieden oder vorbei",
  empty: "Keiner dieser Aufrufe wartet noch",
  failed: "Diese Aufrufe konnten nicht geladen werden",
  alone: {
    secret: "Enthält ein Geheimnis: zum Entscheiden öffnen.",
    long: "Zu lang für eine Tabelle: zum Entscheiden öffnen.",
    decided: "Sie haben entschieden; andere müssen noch.",
    not_asked: "Jemand anderes entscheidet.",
  },
  mark: ({ kind, says }) => {
    const others = says === "" ? "" : `: ${says}`;
    switch (kind) {
      case "risk":
        return "Höheres Risiko als die anderen";
      case "amount":
        return "Weit weg von den anderen";
      case "highest":
        return "Der höchste";
      case "receiver":
        return `Nicht wohin die anderen gehen${others}`;
      case "place":
        return `Außerhalb des Ordners der anderen${others}`;
      case "missing":
        return "Die anderen haben es";
      case "added":
        return "Die anderen haben es nicht";
      case "unlike":
        return `Anders als die anderen${others}`;
    }
  },
  approve: (n) => `${number(n)} genehmigen`,
  reject: (n) => `${number(n)} ablehnen`,
  approveTitle: (n, fn) => `${count(n, "Aufruf", "Aufrufe")} von ${fn} genehmigen?`,
  rejectTitle: (n, fn) => `${count(n, "Aufruf", "Aufrufe")} von ${fn} ablehnen?`,
  approveLead: (agent) => `${agent} darf jeden davon einmal ausführen, mit den gezeigten Argumenten.`,
  rejectLead: "Keiner davon wird ausgeführt.",
  odd: (n) => `${count(n, "davon fällt auf", "davon fallen auf")}:`,
  tickFirst: "Kreuzen Sie zuerst einen Aufruf an.",
  done: (n, approved) => `${count(n, "Aufruf", "Aufrufe")} ${approved ? "genehmigt" : "abgelehnt"}.`,
  noneDecided: (sentence) => `Nichts wurde entschieden, weil dieser nicht entschieden werden konnte: ${sentence}`,
};
