import type { Job, JobState } from "../model/ask.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, rowsOf } from "../../core/store/rows.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { empty, join, raw, sql } from "../../core/store/sql.ts";
import { hasTime, isFrozen } from "../../policy/store/freezes.ts";
import { jobTopic } from "../../core/store/wake.ts";

/** A job with what only the store needs, and the store's clock, read by one statement. */
export interface JobAt {
  job: Job;
  leaseHash: string | null;
  leaseMs: number | null;
  /** The number of its newest event. */
  seq: number;
  /** The oldest event that is kept. */
  keptFrom: number;
  bodyHash: string;
  now: number;
}

const parsed = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text));

const jobRows = rowsOf<Job>()({
  id: "job_id",
  kind: "kind",
  state: "state",
  reason: "reason",
  epoch: "epoch",
  attempts: "attempts",
  maxAttempts: "max_attempts",
  external: flag("external"),
  owner: "owner",
  holder: "holder",
  leaseUntil: "lease_until",
  spec: (row: { spec_json: string | null }) => parsed(row.spec_json),
  result: (row: { result_json: string | null }) => parsed(row.result_json),
  artifacts: json("artifacts_json"),
  env: "env",
  repo: "repo",
  labels: json("labels_json"),
  priority: "priority",
  pendingAsks: "pending_asks",
  awaitsReports: flag("awaits_reports"),
  ttlUntil: "ttl_until",
  createdAt: "created_at",
  updatedAt: "updated_at",
});

const jobAtRows = rowsOf<JobAt>()({
  job: jobRows.read,
  leaseHash: "lease_hash",
  leaseMs: "lease_ms",
  seq: "seq",
  keptFrom: "kept_from",
  bodyHash: "body_hash",
  now: "now",
});

/** A new job; where it begins follows from who runs it. */
export type NewJob = Pick<
  Job,
  "id" | "kind" | "external" | "owner" | "spec" | "env" | "repo" | "labels" | "priority" | "maxAttempts"
> & { bodyHash: string; ttlMs: number };

/** Stores a job unless there is one of this id; returns nothing then. An external one runs from the beginning. */
export async function insertJobIfNew(tx: Tx, job: NewJob): Promise<JobAt | undefined> {
  return jobAtRows.first(
    tx,
    sql`INSERT INTO jobs (job_id, kind, state, epoch, attempts, max_attempts, external, owner, spec_json, env, repo,
        labels_json, priority, pending_asks, seq, kept_from, body_hash, ttl_until, queued_at, created_at, updated_at)
      VALUES (${job.id}, ${job.kind}, ${job.external ? "RUNNING" : "QUEUED"}, 0, 0, ${job.maxAttempts},
        ${job.external ? 1 : 0}, ${job.owner}, ${job.spec === undefined ? null : JSON.stringify(job.spec)}, ${job.env},
        ${job.repo}, ${JSON.stringify(job.labels)}, ${job.priority}, 0, 0, 1, ${job.bodyHash},
        (SELECT parley_now()) + ${job.ttlMs}, (SELECT parley_now()), (SELECT parley_now()), (SELECT parley_now()))
      ON CONFLICT (job_id) DO NOTHING RETURNING *, created_at AS now`,
  );
}

export async function findJob(on: Queryable, id: string): Promise<JobAt | undefined> {
  return jobAtRows.first(on, sql`SELECT *, parley_now() AS now FROM jobs WHERE job_id = ${id}`);
}

/** Holds a job to the end of the transaction: before its asks, and after an ask to people (spec/invariants Q6). */
export async function lockJob(tx: Tx, id: string): Promise<JobAt | undefined> {
  return jobAtRows.first(tx, lockedRows(tx, "jobs", sql`job_id = ${id}`));
}

/** Notes that a held job has calls whose reports are awaited: its end ends the time for them. */
export async function noteReports(tx: Tx, { id, awaitsReports }: Pick<Job, "id" | "awaitsReports">): Promise<void> {
  if (!awaitsReports) await tx.all(sql`UPDATE jobs SET awaits_reports = 1 WHERE job_id = ${id}`);
}

/** The changes of a move besides the state. A member that is left out stays as it is. */
export interface JobMove {
  to: JobState;
  from: JobState;
  epochStep: 0 | 1;
  reason?: string;
  result?: unknown;
  /** Paths of those artifacts that are the result. */
  artifacts?: readonly string[];
  /** True where the attempt that ends now is not counted. */
  uncounted?: boolean;
}

/**
 * Moves a held job, and ends it where the new state is an end. A lease is that of one epoch: it goes with its number.
 *
 * @throws {Error} when it was not in `from`: our bug
 */
export async function updateJobState(tx: Tx, id: string, move: JobMove): Promise<JobAt> {
  const { to, from, epochStep, reason, result, artifacts, uncounted = false } = move;
  const freed = to === "QUEUED";
  const over = to === "SUCCEEDED" || to === "FAILED" || to === "CANCELED" || to === "EXPIRED";
  return jobAtRows.one(
    tx,
    sql`UPDATE jobs SET state = ${to}, epoch = epoch + ${epochStep}, updated_at = parley_now(),
        attempts = attempts - ${uncounted ? 1 : 0},
        pending_asks = CASE WHEN ${over || freed ? 1 : 0} = 1 THEN 0 ELSE pending_asks END,
        holder = CASE WHEN ${freed ? 1 : 0} = 1 THEN NULL ELSE holder END,
        lease_hash = CASE WHEN ${epochStep} = 1 THEN NULL ELSE lease_hash END,
        lease_until = CASE WHEN ${over || freed ? 1 : 0} = 1 THEN NULL ELSE lease_until END,
        queued_at = CASE WHEN ${to === "QUEUED" ? 1 : 0} = 1 THEN parley_now() ELSE queued_at END,
        ended_at = CASE WHEN ${over ? 1 : 0} = 1 THEN parley_now() ELSE ended_at END,
        reason = ${reason ?? null}, result_json = ${result === undefined ? null : JSON.stringify(result)},
        artifacts_json = ${artifacts === undefined ? null : JSON.stringify(artifacts)}
      WHERE job_id = ${id} AND state = ${from} RETURNING *, parley_now() AS now`,
  );
}

/**
 * Counts what a held job's present epoch still waits for; a job waits exactly while that is anything. Returns it as it
 * then is, and the state it was in.
 */
export async function recountPending(tx: Tx, held: Pick<Job, "id" | "epoch">): Promise<JobAt> {
  return jobAtRows.one(
    tx,
    sql`UPDATE jobs SET updated_at = parley_now(),
        pending_asks = (SELECT count(*) FROM asks
          WHERE job_id = ${held.id} AND epoch = ${held.epoch} AND status = 'PENDING'),
        state = CASE WHEN EXISTS (SELECT 1 FROM asks
          WHERE job_id = ${held.id} AND epoch = ${held.epoch} AND status = 'PENDING')
          THEN 'WAITING_ON_ANSWER' ELSE 'RUNNING' END
      WHERE job_id = ${held.id} AND state IN ('RUNNING', 'WAITING_ON_ANSWER') RETURNING *, parley_now() AS now`,
  );
}

/**
 * Gives one waiting job of these kinds to a holder: by priority, one that has waited long first, then the oldest.
 * Returns nothing when no job waits, when a rival took the one that was found, or while the holder is frozen.
 */
export async function claimJob(
  tx: Tx,
  claim: { kinds: readonly string[]; holder: string; leaseHash: string; leaseMs: number; urgentAfterMs: number },
): Promise<JobAt | undefined> {
  const { kinds, holder, leaseHash, leaseMs, urgentAfterMs } = claim;
  return jobAtRows.first(
    tx,
    sql`UPDATE jobs SET state = 'RUNNING', epoch = epoch + 1, attempts = attempts + 1, holder = ${holder},
        lease_hash = ${leaseHash}, lease_ms = ${leaseMs}, lease_until = parley_now() + ${leaseMs},
        updated_at = parley_now(), reason = NULL
      WHERE job_id = (SELECT job_id FROM jobs WHERE state = 'QUEUED' AND kind IN (${join([...kinds])})
          AND ${hasTime(raw("ttl_until"), raw("owner"))} AND NOT ${isFrozen(sql`${holder}`)}
        ORDER BY CASE WHEN queued_at <= (SELECT parley_now()) - ${urgentAfterMs} THEN 'P0' ELSE priority END,
          created_at, job_id LIMIT 1)
        AND state = 'QUEUED' RETURNING *, parley_now() AS now`,
  );
}

/** Gives one waiting job, which is held, to a holder under the next number. @throws {Error} when it does not wait */
export async function claimHeldJob(
  tx: Tx,
  id: string,
  { holder, leaseHash, leaseMs }: { holder: string; leaseHash: string; leaseMs: number },
): Promise<JobAt> {
  return jobAtRows.one(
    tx,
    sql`UPDATE jobs SET state = 'RUNNING', epoch = epoch + 1, attempts = attempts + 1, holder = ${holder},
        lease_hash = ${leaseHash}, lease_ms = ${leaseMs}, lease_until = parley_now() + ${leaseMs},
        updated_at = parley_now(), reason = NULL
      WHERE job_id = ${id} AND state = 'QUEUED' RETURNING *, parley_now() AS now`,
  );
}

/** Returns whether any job of these kinds waits to be claimed by the holder. */
export async function hasClaimable(on: Queryable, kinds: readonly string[], holder: string): Promise<boolean> {
  const row = await first(
    on,
    sql`SELECT 1 AS found FROM jobs WHERE state = 'QUEUED' AND kind IN (${join([...kinds])})
      AND ${hasTime(raw("ttl_until"), raw("owner"))} AND NOT ${isFrozen(sql`${holder}`)} LIMIT 1`,
  );
  return row !== undefined;
}

/**
 * Holds a job's lease for as long again, where it is still that of `epoch`; returns nothing otherwise. One that has just
 * run out is held too, as long as nobody has taken it away: the number is what fences.
 */
export async function renewLease(tx: Tx, id: string, epoch: number): Promise<JobAt | undefined> {
  return jobAtRows.first(
    tx,
    sql`UPDATE jobs SET lease_until = parley_now() + lease_ms
      WHERE job_id = ${id} AND epoch = ${epoch} AND lease_until IS NOT NULL AND lease_hash IS NOT NULL
        AND state IN ('RUNNING', 'WAITING_ON_ANSWER') RETURNING *, parley_now() AS now`,
  );
}

/** An external job lives on, because somebody has just spoken of it. */
export async function extendExternal(tx: Tx, id: string, idleMs: number): Promise<void> {
  await tx.all(
    sql`UPDATE jobs SET ttl_until = parley_now() + ${idleMs}
      WHERE job_id = ${id} AND external = 1 AND ended_at IS NULL AND ttl_until < parley_now() + ${idleMs - 60_000}`,
  );
}

/** Returns jobs whose lease has run out. */
export async function findLostLeases(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ job_id: string }>(
    sql`SELECT job_id FROM jobs WHERE lease_until IS NOT NULL AND lease_until <= (SELECT parley_now())
      ORDER BY lease_until LIMIT ${limit}`,
  );
  return rows.map((row) => row.job_id);
}

/** Returns open jobs whose time to live is over. */
export async function findOutlivedJobs(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ job_id: string }>(
    sql`SELECT job_id FROM jobs WHERE ended_at IS NULL AND ttl_until <= (SELECT parley_now())
        AND NOT ${isFrozen(raw("owner"))}
      ORDER BY ttl_until LIMIT ${limit}`,
  );
  return rows.map((row) => row.job_id);
}

/** Which jobs a list shows: those that somebody made or holds, or all. */
export interface JobFilter {
  principal: string | null;
  states?: readonly JobState[];
  kind?: string;
  /** The last one of the page before. */
  after?: { createdAt: number; id: string };
  limit: number;
}

/** Returns jobs, the newest first. */
export async function listJobs(on: Queryable, filter: JobFilter): Promise<Job[]> {
  const { principal, states, kind, after, limit } = filter;
  return jobRows.all(
    on,
    sql`SELECT * FROM jobs WHERE 1 = 1
      ${principal === null ? empty : sql`AND (owner = ${principal} OR holder = ${principal})`}
      ${states === undefined ? empty : sql`AND state IN (${join([...states])})`}
      ${kind === undefined ? empty : sql`AND kind = ${kind}`}
      ${after === undefined ? empty : sql`AND (created_at < ${after.createdAt} OR created_at = ${after.createdAt} AND job_id < ${after.id})`}
      ORDER BY created_at DESC, job_id DESC LIMIT ${limit}`,
  );
}

/** An event of a job, in the words of the wire; for an answer, also whose it is. */
export interface NewJobEvent {
  event: "answer" | "status" | "log";
  body: Readonly<Record<string, unknown>>;
}

export interface JobEvent extends NewJobEvent {
  seq: number;
  at: number;
}

/** Appends events to a held job under its next numbers, and wakes whoever follows it. */
export async function appendJobEvents(
  tx: Tx,
  { job: { id }, now }: JobAt,
  events: readonly NewJobEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ event, body }, i) => {
    const number = sql`(SELECT seq FROM jobs WHERE job_id = ${id}) - ${events.length - 1 - i}`;
    return sql`(${id}, ${number}, ${event}, ${JSON.stringify({ ...body, at: body["at"] ?? now })}, ${now})`;
  });
  await Promise.all([
    tx.all(sql`UPDATE jobs SET seq = seq + ${events.length} WHERE job_id = ${id}`),
    tx.all(sql`INSERT INTO job_events (job_id, seq, event, body, at) VALUES ${join(rows)}`),
  ]);
  tx.wake(jobTopic(id));
}

const jobEventRows = rowsOf<JobEvent>()({ seq: "seq", event: "event", at: "at", body: json("body") });

/** Returns a job's events after a number, oldest first. */
export async function listJobEvents(on: Queryable, id: string, after: number, limit: number): Promise<JobEvent[]> {
  return jobEventRows.all(
    on,
    sql`SELECT seq, event, body, at FROM job_events WHERE job_id = ${id} AND seq > ${after} ORDER BY seq LIMIT ${limit}`,
  );
}

/** Returns a job's events before a number, or all that are kept, newest first. */
export async function listJobEventsBack(
  on: Queryable,
  id: string,
  { before, limit }: { before?: number; limit: number },
): Promise<JobEvent[]> {
  return jobEventRows.all(
    on,
    sql`SELECT seq, event, body, at FROM job_events WHERE job_id = ${id}
        ${before === undefined ? empty : sql`AND seq < ${before}`}
      ORDER BY seq DESC LIMIT ${limit}`,
  );
}
