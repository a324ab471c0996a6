import type { Job, RelayAnswer, Ask } from "./ask.ts";

/** An event of an ask or a job. Only the server that committed it reports it, after the commit. */
export type RelayFact =
  | { is: "asked"; ask: Ask; job: Job }
  | { is: "escalated"; ask: Ask; job: Job }
  | { is: "ended"; ask: Ask; job: Job; answer: RelayAnswer }
  | { is: "job ended"; job: Job };

const KINDS: Readonly<Record<RelayFact["is"], true>> = { asked: true, escalated: true, ended: true, "job ended": true };

/** Returns whether something that was committed is of an ask or a job. */
export function isRelayFact(fact: { readonly is: string }): fact is RelayFact {
  return Object.hasOwn(KINDS, fact.is);
}
