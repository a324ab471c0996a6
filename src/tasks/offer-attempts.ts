import type { Context } from "../context.ts";
import { OFFERED } from "./model/task.ts";
import { isOver } from "../asks/model/ask.ts";
import { deleteAttempt, findLiveAttempts, findLongOver, updateAttempt, type StoredAttempt } from "./store/attempts.ts";
import { lockTask } from "./store/tasks.ts";
import { lockJob } from "../asks/store/jobs.ts";
import { transact } from "../core/store/transact.ts";
import { CLAIMS_TOPIC } from "../core/store/wake.ts";
import { WORKER_LEASE_MS } from "./attempt-steps.ts";
import { endAttempt } from "./close-attempt.ts";
import { moveTaskIn, pickNextTask, whyBlocked, type Slots } from "./move.ts";
import { moveJobIn } from "../asks/end/settle.ts";
import { writeNotes } from "../core/store/audit.ts";
import { beginIn } from "./start-attempt.ts";

const BY = { kind: "server", id: "assignment" } as const;

/**
 * Puts the next task of repositories whose workers are elsewhere in line as a job, for whichever worker asks first. The
 * task stays queued until one does. Returns whether there was one (spec/assignment 13).
 */
export async function offerAttempt(ctx: Context, slots: Slots): Promise<boolean> {
  return transact(ctx, async (tx) => {
    const task = await pickNextTask(tx, slots);
    if (!task) return false;
    const blockedReason = await whyBlocked(ctx, tx, task);
    if (blockedReason !== null) {
      await moveTaskIn(ctx, tx, task, { to: "blocked", blockedReason });
      return true;
    }
    const { notes } = await beginIn(ctx, tx, task, null);
    await writeNotes(tx, notes);
    tx.wake(CLAIMS_TOPIC);
    return true;
  });
}

/** Takes back what was offered for tasks that are not in line any more, and as jobs that somebody has ended. */
export async function withdrawOffers(ctx: Context): Promise<void> {
  for (const attempt of await findLiveAttempts(ctx.db, OFFERED)) await withdrawIfGone(ctx, attempt);
}

/** Ends each attempt that was to end, or whose job is over, once its worker has not reported for one lease. */
export async function endLostWork(ctx: Context): Promise<void> {
  for (const { attemptId } of await findLongOver(ctx.db, "executor:%", WORKER_LEASE_MS)) {
    await endAttempt(ctx, attemptId, { wip: null, survivors: [] });
  }
}

async function withdrawIfGone(ctx: Context, { attemptId, repo, id, generation, jobId }: StoredAttempt): Promise<void> {
  await transact(ctx, async (tx) => {
    const task = await lockTask(tx, repo, id);
    // It may have been taken meanwhile.
    const still = await updateAttempt(tx, attemptId, null, {});
    if (still?.holder !== OFFERED) return;
    const job = await lockJob(tx, jobId);
    const isOpen = job !== undefined && !isOver(job.job.state);
    if (isOpen && task?.state === "queued" && task.generation === generation) return;
    const moved = isOpen ? await moveJobIn(tx, job, "CANCELED", { by: BY, reason: "withdrawn" }) : undefined;
    await deleteAttempt(tx, attemptId);
    await writeNotes(tx, moved?.notes ?? []);
  });
}
