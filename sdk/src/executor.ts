import { put } from "./executor/artifacts.ts";
import { events } from "./executor/events.ts";
import { claim, finish, heartbeat, log, release } from "./executor/jobs.ts";

export { ParleyError } from "./errors.ts";
export { ask, type AskOptions, type AskResult } from "./executor/ask.ts";
export { AskError, AskFailed, AskRejected, AskTimedOut, LeaseLost } from "./executor/errors.ts";
export type { ClaimOptions, Heartbeat, HeldJob, JobOutcome } from "./executor/jobs.ts";
export type { JobOptions, RelayOptions } from "./executor/place.ts";
export type * from "./executor/wire.ts";

/** Working on jobs, and following them. */
export const jobs = { claim, heartbeat, finish, release, log, events };

/** Files that a job leaves. */
export const artifacts = { put };
