import type { SandboxKind } from "../core/model/sandbox.ts";
import type { Context } from "../context.ts";
import { base62 } from "../lib/id.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import type { AttemptUsage, NewTaskEvent, Task, TaskState } from "./model/task.ts";
import { sizedEvent } from "./model/event-size.ts";
import { findAttempt, updateAttempt, type AttemptPatch, type StoredAttempt } from "./store/attempts.ts";
import { appendTaskEvents } from "./store/events.ts";
import { lockTask, updateTask } from "./store/tasks.ts";
import type { Tx } from "../core/store/db.ts";
import { lockJob, renewLease } from "../asks/store/jobs.ts";
import { noteGivenIn, type NamedNote } from "../requests/notes/give-notes.ts";
import { runOfTask } from "../requests/model/agent-note.ts";
import { transact } from "../core/store/transact.ts";
import { createKeyIn } from "../access/create-key.ts";
import { moveTaskIn } from "./move.ts";
import { moveJobIn } from "../asks/end/settle.ts";
import { writeNotes } from "../core/store/audit.ts";
import { claimIn, type ClaimLease } from "./start-attempt.ts";
import { withoutSecrets } from "../core/without-secrets.ts";
import { revokeKey } from "../access/store/keys.ts";

/** 190 bits. */
const LEASE_LENGTH = 32;
/** A worker elsewhere may be out of reach for so long. */
export const WORKER_LEASE_MS = 60_000;

/** An attempt as its holder knows it: what is written under another number is not its own. */
export interface Held {
  attemptId: string;
  epoch: number;
}

/** Facts about an attempt that become known while it is at work. */
export interface AttemptFacts {
  startSha?: string;
  sandbox?: SandboxKind;
  pid?: number;
  starttime?: string | null;
  session?: string | null;
  agentVersion?: string;
  usage?: AttemptUsage;
  logSeq?: number;
}

/** The attempt is somebody else's by now, is to end, or has ended. */
export class NotHeld extends Error {
  constructor(attemptId: string) {
    super(`attempt ${attemptId} is not held any more`);
    this.name = "NotHeld";
  }
}

/** Locks an attempt and its task for the holder of its job. @throws {NotHeld} */
export async function holdAttempt(
  tx: Tx,
  { attemptId, epoch }: Held,
  patch: AttemptPatch = {},
): Promise<{ attempt: StoredAttempt; task: Task }> {
  const known = await findAttempt(tx, attemptId);
  const task = known && (await lockTask(tx, known.repo, known.id));
  if (!task || task.generation !== known.generation) throw new NotHeld(attemptId);
  const attempt = await updateAttempt(tx, attemptId, epoch, patch);
  if (!attempt || attempt.state === "ending") throw new NotHeld(attemptId);
  return { attempt, task };
}

/** An attempt has come to its next step, and its task with it; a repeat changes nothing. @throws {NotHeld} */
export async function stepAttempt(
  ctx: Context,
  held: Held,
  to: Extract<TaskState, "running" | "interrupted" | "committing">,
  facts: AttemptFacts = {},
): Promise<void> {
  await transact(ctx, async (tx) => {
    const state = to === "committing" ? "committing" : "running";
    const { task } = await holdAttempt(tx, held, { ...facts, state });
    // point: attempt-between-attempt-and-task
    if (task.state !== to) await moveTaskIn(ctx, tx, task, { to });
  });
}

/**
 * Stores events of an attempt, without the secrets in them and cut to size, and the facts that became known.
 * @throws {NotHeld}
 */
export async function noteAttempt(
  ctx: Context,
  held: Held,
  events: readonly NewTaskEvent[],
  facts: AttemptFacts = {},
): Promise<void> {
  const safe = events.length === 0 ? [] : await withoutSecrets(ctx, events.map(sizedEvent));
  await transact(ctx, async (tx) => {
    const before = facts.logSeq === undefined ? undefined : await findAttempt(tx, held.attemptId);
    // A repeated report: the sender did not receive the first reply.
    if (before && before.logSeq >= (facts.logSeq ?? 0)) return;
    // The attempt's own row is enough: nothing here concerns another task.
    const attempt = await updateAttempt(tx, held.attemptId, held.epoch, facts);
    if (!attempt || attempt.state === "ending") throw new NotHeld(held.attemptId);
    const { repo, id, n } = attempt;
    const given = await noteGivenIn(tx, runOfTask(repo, id), notedIn(events));
    await appendTaskEvents(tx, { repo, id, attempt: n }, [...safe.filter(isNoNote), ...given.map(noteEvent)]);
  });
}

const isNoNote = ({ type }: NewTaskEvent): boolean => type !== "note";

/** Returns the ids of the notes that the agent has got by these events; a workshop tells of a note by its id alone. */
function notedIn(events: readonly NewTaskEvent[]): string[] {
  return events.flatMap(({ type, data: { id } }) => (type === "note" && typeof id === "string" ? [id] : []));
}

/** Returns a note that the agent has got, for the log of its task. */
const noteEvent = ({ id, words, name }: NamedNote): NewTaskEvent => ({
  type: "note",
  data: { id, text: words, by: name },
});

/** The task says why its attempt cannot go on for now, or, with null, nothing of the kind any more. @throws {NotHeld} */
export async function noteTrouble(ctx: Context, held: Held, why: string | null): Promise<void> {
  const error = why === null ? null : await withoutSecrets(ctx, why);
  await transact(ctx, async (tx) => {
    const { attempt, task } = await holdAttempt(tx, held);
    if (task.error === error) return;
    await updateTask(tx, task, { error });
    const event = { type: "error", data: { text: error ?? "It goes on." } } as const;
    await appendTaskEvents(tx, { repo: attempt.repo, id: attempt.id, attempt: attempt.n }, [event]);
  });
}

/** The task waits for people, or goes on. @throws {NotHeld} */
export async function markWaiting(ctx: Context, held: Held, isWaiting: boolean): Promise<void> {
  await transact(ctx, async (tx) => {
    const { task } = await holdAttempt(tx, held);
    const from = isWaiting ? "running" : "awaiting_answer";
    if (task.state === from) await moveTaskIn(ctx, tx, task, { to: isWaiting ? "awaiting_answer" : "running" });
  });
}

/** The attempt speaks by a fresh `agent` key; the one it had before is worth nothing. @throws {NotHeld} */
export async function renewAttemptKey(ctx: Context, held: Held): Promise<string> {
  return transact(ctx, async (tx) => {
    const { attempt } = await holdAttempt(tx, held);
    if (attempt.keyId !== null) await revokeKey(tx, attempt.keyId);
    const { text, key } = await createKeyIn(ctx, tx, { name: attempt.attemptId, scope: "agent" });
    await updateAttempt(tx, held.attemptId, held.epoch, { keyId: key.id });
    return text;
  });
}

/**
 * The attempt goes on under the next number: what was written under the one before lands no more, and what it asks again
 * joins what was asked before. Returns that number. @throws {NotHeld}
 */
export async function resumeAttempt(
  ctx: Context,
  held: Held,
  from: "session" | "start",
  lease?: ClaimLease,
): Promise<number> {
  return transact(ctx, async (tx) => {
    const { attempt } = await holdAttempt(tx, held);
    const epoch = await takeAgain(ctx, tx, attempt, lease);
    await updateAttempt(tx, held.attemptId, held.epoch, {
      epoch,
      resumes: attempt.resumes + 1,
      ...(from === "start" && { session: null }),
    });
    return epoch;
  });
}

/** The same for a worker elsewhere, which receives its new lease. @throws {NotHeld} */
export async function resumeLeased(
  ctx: Context,
  held: Held,
  from: "session" | "start",
): Promise<{ lease: string; epoch: number }> {
  const lease = `lease_${base62(ctx.random, LEASE_LENGTH)}`;
  const epoch = await resumeAttempt(ctx, held, from, { leaseHash: sha256Hex(lease), leaseMs: WORKER_LEASE_MS });
  return { lease, epoch };
}

/**
 * Renews the lease of an attempt. A lease that expired meanwhile is taken again, unless somebody else has it. Returns
 * the number under which the attempt is held; undefined when it is lost.
 */
export async function keepAttempt(ctx: Context, { attemptId }: Pick<Held, "attemptId">): Promise<number | undefined> {
  return transact(ctx, async (tx) => {
    const known = await findAttempt(tx, attemptId);
    if (!known || known.endedAt !== null) return undefined;
    if (known.state === "ending") return known.epoch;
    const renewed = await renewLease(tx, known.jobId, known.epoch);
    if (renewed) return known.epoch;
    const job = await lockJob(tx, known.jobId);
    if (job?.job.state !== "QUEUED") return undefined;
    const { job: taken, notes } = await claimIn(ctx, tx, known.jobId, { holder: known.holder });
    await updateAttempt(tx, attemptId, null, { epoch: taken.job.epoch });
    await writeNotes(tx, notes);
    return taken.job.epoch;
  });
}

async function takeAgain(ctx: Context, tx: Tx, attempt: StoredAttempt, lease?: ClaimLease): Promise<number> {
  const { jobId, holder, attemptId } = attempt;
  const job = await lockJob(tx, jobId);
  if (!job) throw new NotHeld(attemptId);
  const { state } = job.job;
  if (state !== "QUEUED" && state !== "RUNNING" && state !== "WAITING_ON_ANSWER") throw new NotHeld(attemptId);
  const by = { kind: "server", id: "assignment" } as const;
  const freed = state === "QUEUED" ? null : await moveJobIn(tx, job, "QUEUED", { by, reason: "RESUMED" });
  const { job: taken, notes } = await claimIn(ctx, tx, jobId, { holder, ...(lease && { lease }) });
  await writeNotes(tx, [...(freed?.notes ?? []), ...notes]);
  return taken.job.epoch;
}
