import type { Context } from "../context.ts";
import { base62 } from "../lib/id.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import { uuidV7 } from "../lib/uuid.ts";
import { OFFERED, type Task } from "./model/task.ts";
import { LEASE_S } from "../asks/model/job-rules.ts";
import { insertAttempt, listAttempts, type NewAttempt, type StoredAttempt } from "./store/attempts.ts";
import { listDependencies, noteUsedCommit } from "./store/dependencies.ts";
import { findTask, findTaskMemory, listTaskHeads, type TaskMemory } from "./store/tasks.ts";
import type { AuditNote } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { insertClaim } from "../asks/store/job-claims.ts";
import { appendJobEvents, claimHeldJob, insertJobIfNew, type JobAt } from "../asks/store/jobs.ts";
import { transact } from "../core/store/transact.ts";
import { moveTaskIn, pickNextTask, whyBlocked, type Slots } from "./move.ts";
import { moveNote, statusOf } from "../asks/end/settle.ts";
import { writeNotes } from "../core/store/audit.ts";
import type { Feedback } from "./review.ts";

interface Changes {
  feedback: Feedback;
  session: string | null;
  commit: string;
}

/** An attempt, with everything that its work needs. */
export interface AttemptAssignment {
  task: Task;
  attempt: StoredAttempt;
  /** Tasks it is built on, with the commits it uses, in the order they were submitted. */
  dependencies: readonly { id: string; commit: string }[];
  /** The changes that a person requested in an earlier attempt's work. */
  changes: Changes | null;
  publishedSha: string | null;
}

/** 190 bits. */
const RANDOM_LENGTH = 32;
/** Longer than anybody may take to answer, many times over. */
const JOB_MS = 400 * 86_400_000;
const MOST_CLAIMS = 1000;

/**
 * Begins the next attempt, for a holder with a free slot. The first task in line is then being prepared, and its
 * attempt is a job of the relay that this holder has claimed. Returns null if no task can start.
 *
 * Dependencies are looked at once more in the same transaction (spec/invariants J8).
 */
export async function startAttempt(
  ctx: Context,
  { holder, slots }: { holder: string; slots: Slots },
): Promise<AttemptAssignment | null> {
  for (;;) {
    const started = await transact(ctx, (tx) => startIn(ctx, tx, { holder, slots }));
    if (started !== "blocked") return started;
  }
}

async function startIn(
  ctx: Context,
  tx: Tx,
  { holder, slots }: { holder: string; slots: Slots },
): Promise<AttemptAssignment | "blocked" | null> {
  const task = await pickNextTask(tx, slots);
  if (!task) return null;
  const { repo, id } = task;
  const blockedReason = await whyBlocked(ctx, tx, task);
  if (blockedReason !== null) {
    await moveTaskIn(ctx, tx, task, { to: "blocked", blockedReason });
    return "blocked";
  }
  const { attempt, notes, changes } = await beginIn(ctx, tx, task, holder);
  const dependencies = changes ? await usedBefore(tx, task) : await usedNow(tx, task);
  const memory = await findTaskMemory(tx, repo, id);
  // point: attempt-between-job-and-task
  const moved = await moveTaskIn(ctx, tx, task, { to: "preparing", attempt: attempt.n, started: task.started + 1 });
  await writeNotes(tx, notes);
  return { task: moved, attempt, dependencies, changes, publishedSha: memory?.publishedSha ?? null };
}

/** Stores the next attempt of a held task with its job, which this holder has, or which waits for one. */
export async function beginIn(
  ctx: Context,
  tx: Tx,
  task: Task,
  holder: string | null,
): Promise<{ attempt: StoredAttempt; notes: AuditNote[]; changes: (Changes & { startSha: string }) | null }> {
  const { repo } = task;
  const agent = task.agent ?? ctx.assignment.repos.find(({ name }) => name === repo)?.agent ?? "";
  const { job, notes } = await openJob(ctx, tx, task, holder);
  const changes = await changesOf(tx, task);
  const { id: jobId, epoch } = job.job;
  const attempt = await insertAttempt(tx, {
    ...freshAttempt(ctx, task, { agent, jobId, epoch, holder: holder ?? OFFERED }),
    ...(changes && { startSha: changes.startSha }),
  });
  return { attempt, notes, changes };
}

/** Returns the next attempt of a task, to be stored. */
export function freshAttempt(
  ctx: Pick<Context, "random">,
  { repo, id, attempt, generation }: Task,
  by: Pick<NewAttempt, "agent" | "jobId" | "epoch" | "holder">,
): NewAttempt {
  return { ...by, attemptId: `att_${base62(ctx.random, RANDOM_LENGTH)}`, repo, id, n: attempt + 1, generation };
}

/** Returns what a task is built on: by an attempt that begins, or by one that began before. */
export async function usedIn(
  tx: Tx,
  task: Task,
  { isNew }: { isNew: boolean },
): Promise<Pick<AttemptAssignment, "dependencies" | "changes">> {
  const changes = await changesOf(tx, task);
  return { changes, dependencies: isNew && !changes ? await usedNow(tx, task) : await usedBefore(tx, task) };
}

/** Returns the same of an attempt that was begun before, as it stands now. */
export async function findAssignment(ctx: Context, attempt: StoredAttempt): Promise<AttemptAssignment | null> {
  const { repo, id } = attempt;
  const task = await findTask(ctx.db, repo, id);
  if (!task) return null;
  const memory = await findTaskMemory(ctx.db, repo, id);
  const isCurrent = task.generation === attempt.generation;
  const changes = isCurrent ? await changesOf(ctx.db, task) : null;
  const dependencies = isCurrent ? await usedBefore(ctx.db, task) : [];
  return { task, attempt, dependencies, changes, publishedSha: memory?.publishedSha ?? null };
}

async function openJob(
  ctx: Context,
  tx: Tx,
  { repo, id, slug, attempt, generation, principal }: Task,
  holder: string | null,
): Promise<{ job: JobAt; notes: AuditNote[] }> {
  const jobId = `job_${uuidV7(ctx.clock.now(), ctx.random)}`;
  const made = await insertJobIfNew(tx, {
    id: jobId,
    kind: `aa/${repo}`,
    external: false,
    owner: principal,
    env: "agent",
    repo,
    priority: "P1",
    spec: { repo, task: id, slug, attempt: attempt + 1, generation },
    labels: {},
    bodyHash: "",
    maxAttempts: MOST_CLAIMS,
    ttlMs: JOB_MS,
  });
  if (!made) throw new Error("a fresh id is taken");
  await appendJobEvents(tx, made, [statusOf(made, null)]);
  const madeNote = moveNote(made, null, { kind: "agent", id: principal });
  if (holder === null) return { job: made, notes: [madeNote] };
  const { job, notes } = await claimIn(ctx, tx, jobId, { holder });
  return { job, notes: [madeNote, ...notes] };
}

/** By what a holder proves that it is one, and for how long. */
export interface ClaimLease {
  leaseHash: string;
  leaseMs: number;
}

/** Gives a waiting job of an attempt to its holder; entries of the record are returned, and not written. */
export async function claimIn(
  ctx: Pick<Context, "random">,
  tx: Tx,
  jobId: string,
  { holder, lease }: { holder: string; lease?: ClaimLease },
): Promise<{ job: JobAt; notes: AuditNote[] }> {
  // This server itself goes by the number, and shows nobody a lease.
  const own = { leaseHash: sha256Hex(base62(ctx.random, RANDOM_LENGTH)), leaseMs: LEASE_S.usual * 1000 };
  const job = await claimHeldJob(tx, jobId, { holder, ...(lease ?? own) });
  await insertClaim(tx, { jobId, epoch: job.job.epoch, holder, worker: holder });
  await appendJobEvents(tx, job, [statusOf(job, "QUEUED")]);
  return { job, notes: [moveNote(job, "QUEUED", { kind: "agent", id: holder })] };
}

async function changesOf(on: Context["db"] | Tx, task: Task): Promise<(Changes & { startSha: string }) | null> {
  const feedback = ((await findTaskMemory(on, task.repo, task.id)) as TaskMemory).feedback as Feedback | null;
  if (!feedback) return null;
  const all = await listAttempts(on, task.repo, task.id);
  const reviewed = all.find(({ n }) => n === feedback.attempt);
  if (!reviewed?.startSha || !reviewed.commitSha) return null;
  const { startSha, commitSha: commit, session } = reviewed;
  return { feedback, session, commit, startSha };
}

/** The commits of its dependencies now, which are noted as those it uses. */
async function usedNow(tx: Tx, { repo, id }: Task): Promise<{ id: string; commit: string }[]> {
  const used = await inOrder(tx, repo, await listDependencies(tx, repo, [id]));
  for (const one of used) await noteUsedCommit(tx, { repo, id }, one.id, one.commit);
  return used.flatMap(({ id: dependsOn, commit }) => (commit === null ? [] : [{ id: dependsOn, commit }]));
}

/** The commits that it began with. */
async function usedBefore(on: Context["db"] | Tx, { repo, id }: Task): Promise<{ id: string; commit: string }[]> {
  const links = await listDependencies(on, repo, [id]);
  const usedBy = new Map(links.map(({ dependsOn, usedCommit }) => [dependsOn, usedCommit]));
  const all = await inOrder(on, repo, links);
  return all.flatMap(({ id: dependsOn }) => {
    const commit = usedBy.get(dependsOn);
    return commit ? [{ id: dependsOn, commit }] : [];
  });
}

/** In the order of submission; git itself leaves out what another one holds. */
async function inOrder(
  on: Context["db"] | Tx,
  repo: string,
  links: readonly { dependsOn: string }[],
): Promise<{ id: string; commit: string | null }[]> {
  const ids = links.map(({ dependsOn }) => dependsOn);
  return (await listTaskHeads(on, repo, ids)).map(({ id, commit }) => ({ id, commit }));
}
