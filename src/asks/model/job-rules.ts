import type { Ask, Job, JobState } from "./ask.ts";

/** How long a claim is good for, unless the claimer wants it otherwise. */
export const LEASE_S = { least: 5, usual: 15, most: 3600 } as const;
/** A job that has waited so long counts as one of the highest priority. */
export const URGENT_AFTER_MS = 600_000;
/** An external job is over when nobody has spoken of it for so long. */
export const EXTERNAL_IDLE_MS = 7 * 86_400_000;

/** Every transition there is (spec/relay 2). */
const MOVES: Readonly<Record<JobState, readonly JobState[]>> = {
  QUEUED: ["RUNNING", "CANCELED", "EXPIRED"],
  RUNNING: ["WAITING_ON_ANSWER", "SUCCEEDED", "FAILED", "QUEUED", "CANCELED", "EXPIRED"],
  WAITING_ON_ANSWER: ["RUNNING", "SUCCEEDED", "FAILED", "QUEUED", "CANCELED", "EXPIRED"],
  SUCCEEDED: [],
  FAILED: [],
  CANCELED: [],
  EXPIRED: [],
};

/** Returns whether a job may go from one state to another. */
export function mayMove(from: JobState, to: JobState): boolean {
  return MOVES[from].includes(to);
}

/** A move gives the job a new fencing number wherever whoever held it must not write any more. */
export function bumpsEpoch(from: JobState, to: JobState): boolean {
  return (from === "QUEUED" && to === "RUNNING") || to === "QUEUED" || to === "CANCELED" || to === "EXPIRED";
}

/** Returns whether other asks of the job may share the answer of this one: only asks of a later epoch do. */
export function mayBeJoined(ask: Pick<Ask, "epoch">, job: Pick<Job, "epoch">): boolean {
  return job.epoch > ask.epoch;
}

/** How much a line about a job's work matters. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
