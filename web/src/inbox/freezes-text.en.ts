/** The words of what is frozen, loaded with it. */
export const text = {
  all: (since: string, by: string) => `Everything is frozen since ${since} by ${by}: nothing is approved.`,
  agent: (agent: string, since: string, by: string) =>
    `${agent} is frozen since ${since} by ${by}: nothing is approved for it.`,
  person: (person: string, since: string, by: string) =>
    `The agents of ${person} are frozen since ${since} by ${by}: nothing is approved for them.`,
  reason: (words: string) => `Reason: ${words}`,
  thaw: "Thaw",
  thawTitle: "Thaw?",
  thawLead: "Approvals count again, deadlines go on, and calls that were approved before can run.",
  thawed: "Thawed.",
  freezeAgent: "Freeze this agent",
  freezeAgentTitle: (agent: string) => `Freeze ${agent}?`,
  freezeAgentLead:
    "Nothing is approved for it until it is thawed, and its deadlines stand still. You can still reject.",
  freezeAll: "Freeze everything",
  freezeAllTitle: "Freeze everything?",
  freezeAllLead:
    "Nothing is approved for any agent until an admin thaws it, and all deadlines stand still. People can still reject.",
  why: "Reason (optional)",
  freeze: "Freeze",
  frozen: "Frozen.",
  title: "Frozen",
  none: "Nothing is frozen.",
  failed: "What is frozen could not be read.",
};

export type FreezesTexts = typeof text;
