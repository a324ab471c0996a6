import type { Job, RelayAnswer, RelayAsk } from "./ask.ts";

/** What became of an ask or a job. Told once it is committed, by the server that committed it, and by no other. */
export type RelayFact =
  | { is: "asked"; ask: RelayAsk; job: Job }
  | { is: "escalated"; ask: RelayAsk; job: Job }
  | { is: "ended"; ask: RelayAsk; job: Job; answer: RelayAnswer }
  | { is: "job ended"; job: Job };
