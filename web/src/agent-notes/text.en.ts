/** The words of notes to an agent at work, loaded with them. */
export const text = {
  open: "Note",
  title: (agent: string) => `Note to ${agent}`,
  lead: "The agent reads it at its next turn. It approves nothing.",
  words: "Your note",
  send: "Send",
  done: "Sent.",
  thread: "Notes to the agent",
  wrote: (name: string | null) => (name === null ? "Your note" : `Note by ${name}`),
  waits: "Not read by the agent yet.",
  given: (time: string) => `The agent got it: ${time}`,
};

export type AgentNoteTexts = typeof text;
