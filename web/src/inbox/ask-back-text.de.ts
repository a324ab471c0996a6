import type { AskBackTexts } from "./ask-back-text.en.ts";

export const text: AskBackTexts = {
  open: "Rückfragen",
  title: (agent) => `Rückfrage an ${agent}`,
  lead: "Die Anfrage bleibt offen. Die Antwort kommt hierher und auf Ihre Kanäle.",
  question: "Ihre Frage",
  send: "Fragen",
  cannot: (agent) =>
    `${agent} kann keine Rückfrage beantworten und wartet nur auf die Entscheidung. Der Kommentar einer Ablehnung wird dort gelesen.`,
  done: "Gefragt.",
  thread: "Rückfragen",
  asked: (name) => (name === null ? "Ihre Frage" : `Frage von ${name}`),
  answered: (agent) => `Antwort von ${agent}`,
  sent: "Der Agent hat sie noch nicht gelesen.",
  told: "Der Agent hat sie und noch nicht geantwortet.",
};
