import type { Job, RelayAnswer, Ask } from "./ask.ts";

/** An event of an ask or a job. Only the server that committed it reports it, after the commit. */
export type RelayFact =
  | { kind: "asked"; ask: Ask; job: Job }
  | { kind: "escalated"; ask: Ask; job: Job }
  | { kind: "ended"; ask: Ask; job: Job; answer: RelayAnswer }
  | { kind: "job ended"; job: Job };

const KINDS: Readonly<Record<RelayFact["kind"], true>> = {
  asked: true,
  escalated: true,
  ended: true,
  "job ended": true,
};

/** Returns whether something that was committed is of an ask or a job. */
export function isRelayFact(fact: { readonly kind: string }): fact is RelayFact {
  return Object.hasOwn(KINDS, fact.kind);
}
