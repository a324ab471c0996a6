/** A bug on purpose: its harness must notice it (spec/invariants 5). */
export interface Plant {
  /** What is wrong with it, as a developer might have written it. */
  bug: string;
  file: string;
  /** Stands exactly once in the file. */
  find: string;
  put: string;
  harness: "sim" | "kill" | "model" | "race" | "freeze" | "run" | "reach" | "unseen" | "clock" | "sign" | "consent";
  /** Runs with every change; the others with `--long`. */
  fast?: boolean;
  /** What the harness has to say about it, so that it does not pass for caught when something else is noticed. */
  says: RegExp;
}
