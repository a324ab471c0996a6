import type { FreezesTexts } from "./freezes-text.en.ts";

export const text: FreezesTexts = {
  all: (since, by) => `Alles ist eingefroren seit ${since} durch ${by}: Nichts wird genehmigt.`,
  agent: (agent, since, by) => `${agent} ist eingefroren seit ${since} durch ${by}: Nichts wird ihm genehmigt.`,
  person: (person, since, by) =>
    `Die Agenten von ${person} sind eingefroren seit ${since} durch ${by}: Nichts wird ihnen genehmigt.`,
  reason: (words) => `Grund: ${words}`,
  thaw: "Auftauen",
  thawTitle: "Auftauen?",
  thawLead:
    "Genehmigungen zählen wieder, Fristen laufen weiter, und zuvor genehmigte Aufrufe können ausgeführt werden.",
  thawed: "Aufgetaut.",
  freezeAgent: "Agenten einfrieren",
  freezeAgentTitle: (agent) => `${agent} einfrieren?`,
  freezeAgentLead:
    "Bis zum Auftauen wird ihm nichts genehmigt, und seine Fristen stehen still. Ablehnen können Sie weiterhin.",
  freezeAll: "Alles einfrieren",
  freezeAllTitle: "Alles einfrieren?",
  freezeAllLead:
    "Bis jemand von der Administration auftaut, wird keinem Agenten etwas genehmigt, und alle Fristen stehen still. Ablehnen bleibt möglich.",
  why: "Grund (freiwillig)",
  freeze: "Einfrieren",
  frozen: "Eingefroren.",
  title: "Eingefroren",
  none: "Nichts ist eingefroren.",
  failed: "Was eingefroren ist, konnte nicht gelesen werden.",
};
