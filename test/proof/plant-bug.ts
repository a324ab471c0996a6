/** A bug on purpose: its harness must notice it (spec/invariants 5). */
export interface Plant {
  /** The bug's description, as a developer might have written it. */
  bug: string;
  file: string;
  /** Stands exactly once in the file. */
  find: string;
  put: string;
  harness:
    | "sim"
    | "kill"
    | "outcomes"
    | "standstill"
    | "model"
    | "race"
    | "freeze"
    | "promote"
    | "run"
    | "reach"
    | "unseen"
    | "clock"
    | "sign"
    | "consent"
    | "commands";
  /** Runs with every change; the others with `--long`. */
  fast?: boolean;
  /** The harness's message for this bug. A failure with another message does not count as a catch. */
  says: RegExp;
}
