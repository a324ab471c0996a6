import type { Job, AskAnswer, Ask } from "./ask.ts";

/** An event of an ask or a job. Only the server that committed it reports it, after the commit. */
export type AskFact =
  | { kind: "asked"; ask: Ask; job: Job }
  | { kind: "escalated"; ask: Ask; job: Job }
  | { kind: "ended"; ask: Ask; job: Job; answer: AskAnswer }
  | { kind: "job ended"; job: Job };

const KINDS: Readonly<Record<AskFact["kind"], true>> = {
  asked: true,
  escalated: true,
  ended: true,
  "job ended": true,
};

/** Returns whether something that was committed is of an ask or a job. */
export function isAskFact(fact: { readonly kind: string }): fact is AskFact {
  return Object.hasOwn(KINDS, fact.kind);
}
