import { ParleyError } from "../errors.ts";
import { ask, type AskOptions, type AskResult } from "./ask.ts";
import { put } from "./artifacts.ts";
import { LeaseLost } from "./errors.ts";
import { connect, type JobOptions, jobPath, PATIENCE_MS, type RelayOptions } from "./place.ts";
import type { Artifact, AskKind, Job, JobEnd, JobLog, JobState, Lease } from "./wire.ts";
import { platformClock } from "../clock.ts";
import { newKey } from "../idempotency-key.ts";
import { mayPass, persist } from "../persist.ts";

/** The jobs to claim, and how long to hold one and to wait for one. */
export interface ClaimOptions extends RelayOptions {
  /** Left out: `default` alone. */
  kinds?: string[];
  /** The worker's name in the record; left out, a random name. */
  worker_id?: string;
  /** How long the job is held without a sign of life, 5 to 3600 seconds. */
  lease_ttl_s?: number;
  /** False: look once. Otherwise wait until there is a job. */
  wait?: boolean;
  /** Stops waiting; a job under way is given back. */
  signal?: AbortSignal;
}

/** How a claimed job ended: as its executor reported, or it was given back, or taken away. */
export interface JobOutcome {
  job_id: string;
  ended: "SUCCEEDED" | "FAILED" | "RELEASED" | "LOST";
  /** Why it failed, or what took it away. */
  error?: unknown;
}

/** A job that is being worked on. */
export interface HeldJob {
  readonly job: Job;
  readonly lease: Lease;
  /** Aborted with a `LeaseLost` when the job is no longer this worker's: stop at once. */
  readonly signal: AbortSignal;
  /** As `ask`, in this job's name; `step_id` is `main` when it is left out. */
  ask<T = unknown>(type: AskKind, prompt: string, options?: AskOptions): Promise<AskResult<T>>;
  log(entry: string | JobLog | readonly JobLog[]): Promise<void>;
  put(path: string, content: string | Uint8Array | Blob): Promise<Artifact>;
  /** Ends the job; what the handler returns then counts no more. */
  finish(end: JobEnd): Promise<void>;
  /** Puts the job in line again, without counting the attempt. */
  release(reason?: string): Promise<void>;
}

/** The server's reply to a heartbeat. */
export interface Heartbeat {
  job_id: string;
  state: JobState;
  epoch: number;
  lease_expires_at: number;
  pending_asks: number;
}

const CLAIM_WAIT_S = 25;
const MOST_REASON = 1000;
const HEARTBEATS_PER_LEASE = 3;

/**
 * Claims the next job and runs `handler` while the lease is renewed. The handler's return value becomes the result; an
 * error that it throws becomes the reason why the job failed. Resolves with null when `wait` is false and no job waits.
 *
 * Once the lease is lost or `options.signal` aborted, the handler's signal is aborted; a handler that then throws gives
 * the job back, and one that returns all the same has finished it.
 *
 * @throws {ParleyError} the server's refusal to hand out jobs, or the signal's reason while no job is there
 */
export async function claim(options: ClaimOptions, handler: (held: HeldJob) => unknown): Promise<JobOutcome | null> {
  const claimed = await nextJob(options);
  if (!claimed) return null;
  const { job, lease } = claimed;
  const { signal: stop, ...relay } = options;
  const place: JobOptions = { ...pick(relay), job_id: job.job_id, lease: lease.token };
  const lost = new AbortController();
  const over = new AbortController();
  const giveBack = () => lost.abort(new LeaseLost("RELEASED", `Job ${job.job_id} was given back.`));
  if (stop?.aborted) giveBack();
  stop?.addEventListener("abort", giveBack, { once: true });

  let ended: JobOutcome["ended"] | undefined;
  const held: HeldJob = {
    job,
    lease,
    signal: lost.signal,
    ask(type, prompt, more = {}) {
      const signal = more.signal ? AbortSignal.any([lost.signal, more.signal]) : lost.signal;
      return ask(type, prompt, { step_id: "main", ...place, ...more, signal });
    },
    log: (entry) => log(entry, place),
    put: (path, content) => put(path, content, place),
    async finish(end) {
      await finish(end, place);
      ended ??= end.state;
    },
    async release(reason) {
      await release({ ...place, ...(reason !== undefined && { reason }) });
      ended ??= "RELEASED";
    },
  };
  const beating = beat(place, lease, { lost, over: over.signal });
  try {
    const result = await handler(held);
    if (ended === undefined) await held.finish({ state: "SUCCEEDED", ...(result !== undefined && { result }) });
    return { job_id: job.job_id, ended: ended ?? "SUCCEEDED" };
  } catch (error) {
    ended ??= endedHere(error, lease.epoch);
    if (ended !== undefined) return { job_id: job.job_id, ended, error };
    return { job_id: job.job_id, ended: await giveUp(held, error), error };
  } finally {
    stop?.removeEventListener("abort", giveBack);
    over.abort();
    await beating;
  }
}

const pick = ({ url, key, fetch }: RelayOptions): RelayOptions => ({
  ...(url !== undefined && { url }),
  ...(key !== undefined && { key }),
  ...(fetch && { fetch }),
});

/** Says that the job did not succeed, or gives it back where that was wanted; it may be another's already. */
async function giveUp(held: HeldJob, error: unknown): Promise<JobOutcome["ended"]> {
  const { reason } = held.signal as { reason: unknown };
  if (reason instanceof LeaseLost && reason.code !== "RELEASED") return "LOST";
  try {
    if (reason instanceof LeaseLost) await held.release();
    else await held.finish({ state: "FAILED", reason: reasonOf(error) });
    return reason instanceof LeaseLost ? "RELEASED" : "FAILED";
  } catch (refusal) {
    if (isNotHeld(refusal)) return "LOST";
    throw refusal;
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, MOST_REASON).toWellFormed() || "It gave no reason.";
}

async function nextJob(options: ClaimOptions): Promise<{ job: Job; lease: Lease } | undefined> {
  const { kinds, lease_ttl_s, signal, wait = true } = options;
  const connection = connect({ ...pick(options), job_id: "", lease: "" });
  const waitS = wait ? CLAIM_WAIT_S : 0;
  const body = { kinds, lease_ttl_s, worker_id: options.worker_id ?? workerName(), wait: `${waitS}s` };
  const call = { signal, body, timeoutMs: waitS * 1000 + 15_000 };
  const look = () => connection.call<{ job: Job; lease: Lease } | undefined>("POST", "/jobs/claim", call);
  for (;;) {
    signal?.throwIfAborted();
    const claimed = await persist(look, { signal, giveUpAt: wait ? Infinity : Date.now() + PATIENCE_MS });
    if (claimed || !wait) return claimed;
  }
}

let worker: string | undefined;
const workerName = (): string => (worker ??= `worker-${newKey().slice(0, 8)}`);

/** Renews the lease until `over`; aborts `lost` once it is not to be had any more. */
async function beat(
  place: JobOptions,
  { ttl_s, epoch }: Lease,
  { lost, over }: { lost: AbortController; over: AbortSignal },
): Promise<void> {
  const ttlMs = ttl_s * 1000;
  const pauseMs = Math.floor(ttlMs / HEARTBEATS_PER_LEASE);
  let goodUntil = Date.now() + ttlMs;
  while (!over.aborted) {
    await platformClock.sleep(pauseMs, over);
    if (over.aborted) return;
    const sentAt = Date.now();
    try {
      await send<Heartbeat>("heartbeat", place, { type: "Heartbeat" }, { signal: over, timeoutMs: pauseMs });
      goodUntil = sentAt + ttlMs;
    } catch (error) {
      if (over.aborted) return;
      if (error instanceof ParleyError && !mayPass(error)) {
        if (endedHere(error, epoch) === undefined) lost.abort(new LeaseLost(String(error.code), error.message, error));
        return;
      }
      if (Date.now() < goodUntil) continue;
      lost.abort(new LeaseLost("LEASE_EXPIRED", "The server could not be told in time that the job is held.", error));
      return;
    }
  }
}

/** How the job was finished under this very lease, by the program that it was handed to; undefined where it was not. */
function endedHere(error: unknown, epoch: number): JobEnd["state"] | undefined {
  if (!(error instanceof ParleyError)) return undefined;
  const { code, details } = error;
  const isOurs = code === "JOB_CLOSED" || (code === "FENCED" && details["epoch"] === epoch);
  const { state } = details;
  return isOurs && (state === "SUCCEEDED" || state === "FAILED") ? state : undefined;
}

function isNotHeld(error: unknown): boolean {
  return error instanceof ParleyError && ["FENCED", "JOB_CLOSED", "JOB_NOT_FOUND"].includes(error.code);
}

/**
 * The lease is good for its whole time again. `claim` does this by itself.
 *
 * @throws {ParleyError} `FENCED`, `JOB_CLOSED`, `JOB_NOT_FOUND`
 */
export async function heartbeat(options: JobOptions & { note?: string } = {}): Promise<Heartbeat> {
  return send("heartbeat", options, { type: "Heartbeat", note: options.note });
}

/**
 * The job has ended as its executor says; saying the same again changes nothing.
 *
 * @throws {ParleyError} `FENCED`, `JOB_CLOSED`, `JOB_NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function finish(end: JobEnd, options: JobOptions = {}): Promise<Job> {
  return send("finish", options, end);
}

/**
 * The job is in line again, and the attempt does not count.
 *
 * @throws {ParleyError} `FENCED`, `JOB_CLOSED`, `JOB_NOT_FOUND`, `VALIDATION_ERROR` for an external job
 */
export async function release(options: JobOptions & { reason?: string } = {}): Promise<Job> {
  return send("release", options, { reason: options.reason });
}

/**
 * Adds entries about the work to the job's events.
 *
 * @throws {ParleyError} `FENCED`, `JOB_NOT_FOUND`, `VALIDATION_ERROR`
 */
export async function log(entry: string | JobLog | readonly JobLog[], options: JobOptions = {}): Promise<void> {
  await send("logs", options, typeof entry === "string" ? { message: entry } : entry);
}

async function send<T>(
  what: string,
  options: JobOptions,
  body: unknown,
  once?: { signal: AbortSignal; timeoutMs: number },
): Promise<T> {
  const connection = connect(options);
  const path = `${jobPath(options)}/${what}`;
  if (once) return connection.call("POST", path, { body, ...once });
  const { signal } = options;
  return persist(() => connection.call<T>("POST", path, { body, signal }), {
    signal,
    giveUpAt: Date.now() + PATIENCE_MS,
  });
}
