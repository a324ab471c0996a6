import type { Job, RelayAnswer, RelayAsk } from "./ask.ts";

/** What became of an ask or a job. Told once it is committed, by the server that committed it, and by no other. */
export type RelayFact =
  | { is: "asked"; ask: RelayAsk; job: Job }
  | { is: "escalated"; ask: RelayAsk; job: Job }
  | { is: "ended"; ask: RelayAsk; job: Job; answer: RelayAnswer }
  | { is: "job ended"; job: Job };

const KINDS: Readonly<Record<RelayFact["is"], true>> = { asked: true, escalated: true, ended: true, "job ended": true };

/** Returns whether something that was committed is of an ask or a job. */
export function isRelayFact(fact: { readonly is: string }): fact is RelayFact {
  return Object.hasOwn(KINDS, fact.is);
}
