/** The words of questions to an agent, loaded with them. */
export const text = {
  open: "Ask back",
  title: (agent: string) => `Ask ${agent}`,
  lead: "The request stays open. The answer comes here, and on your channels.",
  question: "Your question",
  send: "Ask",
  cannot: (agent: string) =>
    `${agent} cannot be asked back: it waits for the decision alone. It reads the comment of a rejection.`,
  done: "Asked.",
  thread: "Questions to the agent",
  asked: (name: string | null) => (name === null ? "You asked" : `${name} asked`),
  answered: (agent: string) => `${agent} answered`,
  sent: "Not read by the agent yet.",
  told: "The agent has it, and has not answered yet.",
};

export type AskBackTexts = typeof text;
