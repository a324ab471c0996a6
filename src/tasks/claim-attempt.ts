import type { Context } from "../context.ts";
import { MOST_STARTS, OFFERED } from "./model/task.ts";
import type { JobState } from "../asks/model/ask.ts";
import { Refusal } from "../refusals.ts";
import { findAttempt, findAttemptOfJob, insertAttempt, updateAttempt, type StoredAttempt } from "./store/attempts.ts";
import { findTaskMemory, lockTask } from "./store/tasks.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import type { Held } from "./attempt-steps.ts";
import { holdForWriter, type Writer } from "../asks/jobs/hold-job.ts";
import { moveTaskIn, whyBlocked } from "./move.ts";
import { moveJobIn } from "../asks/end/settle.ts";
import { writeNotes } from "../core/store/audit.ts";
import { freshAttempt, usedIn, type AttemptAssignment } from "./start-attempt.ts";

const BY = { kind: "server", id: "assignment" } as const;

/**
 * Gives the attempt of a job to the worker that holds the job's lease, with all that its work needs. A repeated call of
 * the same worker changes nothing. An attempt whose earlier worker was lost is over: the task begins anew, three times
 * at most (spec/assignment 13). If a dependency of it no longer exists, it waits for that.
 *
 * @throws {Refusal} `job_not_found`, `fenced`, `job_closed` also when it was begun too often, or waits
 */
export async function claimAttempt(ctx: Context, jobId: string, by: Writer): Promise<AttemptAssignment> {
  const claimed = await transact(ctx, (tx) => claimIn(ctx, tx, jobId, by));
  if (typeof claimed !== "string") return claimed;
  throw new Refusal("job_closed", { id: jobId, state: claimed });
}

/** Returns how the job has ended where it cannot be given out. */
async function claimIn(ctx: Context, tx: Tx, jobId: string, by: Writer): Promise<AttemptAssignment | JobState> {
  const known = await findAttemptOfJob(tx, jobId);
  const task = known && (await lockTask(tx, known.repo, known.id));
  if (!task || task.generation !== known.generation) throw new Refusal("job_not_found");
  const job = await holdForWriter(ctx, tx, jobId, by);
  const { epoch } = job.job;
  const memory = await findTaskMemory(tx, task.repo, task.id);
  const publishedSha = memory?.publishedSha ?? null;
  if (known.endedAt !== null) throw new Refusal("job_closed", { id: jobId, state: job.job.state });

  if (known.holder === by.principal && known.epoch === epoch) {
    return { task, attempt: known, ...(await usedIn(tx, task, { isNew: false })), publishedSha };
  }
  if (known.holder === OFFERED) {
    const attempt = await taken(tx, known, { holder: by.principal, epoch });
    const used = await usedIn(tx, task, { isNew: true });
    const moved = await moveTaskIn(ctx, tx, task, { to: "preparing", attempt: attempt.n, started: task.started + 1 });
    return { task: moved, attempt, ...used, publishedSha };
  }
  // The earlier holder has not reported for too long, and the session of its agent is on another machine.
  await updateAttempt(tx, known.attemptId, null, { state: "ended", outcome: "lost" });
  const interrupted = task.state === "interrupted" ? task : await moveTaskIn(ctx, tx, task, { to: "interrupted" });
  if (task.started >= MOST_STARTS) {
    const error = `it was begun ${task.started} times, and its worker was lost each time`;
    const moved = await moveJobIn(tx, job, "FAILED", { by: BY, reason: error });
    await moveTaskIn(ctx, tx, interrupted, { to: "failed", error });
    await writeNotes(tx, moved.notes);
    return "FAILED";
  }
  const blockedReason = await whyBlocked(ctx, tx, task);
  if (blockedReason !== null) {
    // It begins anew, as any task does: with all that it depends on, once that is there again.
    const moved = await moveJobIn(tx, job, "CANCELED", { by: BY, reason: blockedReason });
    await moveTaskIn(ctx, tx, interrupted, { to: "queued" });
    await writeNotes(tx, moved.notes);
    return "CANCELED";
  }
  const attempt = await insertAttempt(tx, {
    ...freshAttempt(ctx, task, { agent: known.agent, jobId, epoch, holder: by.principal }),
  });
  const used = await usedIn(tx, task, { isNew: true });
  const moved = await moveTaskIn(ctx, tx, interrupted, {
    to: "preparing",
    attempt: attempt.n,
    started: task.started + 1,
  });
  return { task: moved, attempt, ...used, publishedSha };
}

async function taken(tx: Tx, attempt: StoredAttempt, by: { holder: string; epoch: number }): Promise<StoredAttempt> {
  const claimed = await updateAttempt(tx, attempt.attemptId, null, by);
  if (!claimed) throw new Error("an attempt that waits for a worker has ended");
  return claimed;
}

/**
 * Returns a worker's attempt as it is held now; with the lease it shows, or, of one that is to end, without.
 *
 * @throws {Refusal} `job_not_found`, `fenced`
 */
export async function workerAttempt(
  ctx: Context,
  jobId: string,
  by: Writer,
): Promise<{ attempt: StoredAttempt; held: Held }> {
  const found = await findAttemptOfJob(ctx.db, jobId);
  if (!found) throw new Refusal("job_not_found");
  const isEnding = found.state === "ending" && found.holder === by.principal;
  if (!isEnding) await transact(ctx, (tx) => holdForWriter(ctx, tx, jobId, by));
  const attempt = (await findAttempt(ctx.db, found.attemptId)) ?? found;
  return { attempt, held: { attemptId: attempt.attemptId, epoch: attempt.epoch } };
}
