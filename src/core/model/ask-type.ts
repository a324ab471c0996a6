/** The types of asks that an executor may make (spec/relay 3). */
export const ASK_TYPES = ["CLARIFICATION", "RESOURCE_FETCH", "POLICY_DECISION", "APPROVAL", "CHOICE"] as const;

export type AskType = (typeof ASK_TYPES)[number];
