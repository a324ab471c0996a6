import type { AgentNoteTexts } from "./text.en.ts";

export const text: AgentNoteTexts = {
  open: "Hinweis",
  title: (agent) => `Hinweis an ${agent}`,
  lead: "Der Agent liest ihn bei seinem nächsten Schritt. Er genehmigt nichts.",
  words: "Ihr Hinweis",
  send: "Senden",
  done: "Gesendet.",
  thread: "Hinweise an den Agenten",
  wrote: (name) => (name === null ? "Ihr Hinweis" : `Hinweis von ${name}`),
  waits: "Der Agent hat ihn noch nicht gelesen.",
  given: (time) => `Der Agent hat ihn: ${time}`,
};
