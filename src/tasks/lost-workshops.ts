import type { Context } from "../context.ts";
import { findSilentAttempts, updateAttempt, type StoredAttempt } from "./store/attempts.ts";
import { lockTask, updateTask } from "./store/tasks.ts";
import { forgetWorkshops, noteWorkshop } from "./store/workshops.ts";
import { transact } from "../core/store/transact.ts";
import { WORKER_LEASE_MS } from "./attempt-steps.ts";
import { endAttempt } from "./close-attempt.ts";
import { endAttemptIn } from "./end-attempt.ts";
import { writeNotes } from "../core/store/audit.ts";

/** A server that is off for a while leaves its agents at work, and comes back to them. */
const LOST_MS = 3_600_000;
const FORGOTTEN_MS = 30 * 86_400_000;
const BY = { kind: "server", id: "assignment" } as const;

/** The workshop that holds its attempts under this name is there. */
export async function noteHolder(ctx: Context, holder: string): Promise<void> {
  await transact(ctx, async (tx) => {
    await noteWorkshop(tx, holder);
    await forgetWorkshops(tx, FORGOTTEN_MS);
  });
}

/**
 * Ends the attempts of other workshops that no longer report. An attempt that was to end has ended after a minute, as
 * with a worker elsewhere, once none of its processes runs on this machine. An attempt at work is to end after an hour,
 * as lost. A workshop that comes back is notified, and ends its agents (spec/assignment 9, 10 and 13).
 *
 * `kill` ends the processes of an attempt on this machine, and returns those that would not end.
 */
export async function endSilentWork(
  ctx: Context,
  holder: string,
  kill: (attemptId: string) => Promise<readonly number[]>,
): Promise<void> {
  const unheard = (isEnding: boolean, forMs: number) => findSilentAttempts(ctx.db, { holder, isEnding, forMs });
  for (const attempt of await unheard(false, LOST_MS)) await loseAttempt(ctx, attempt);
  for (const { attemptId } of await unheard(true, WORKER_LEASE_MS)) {
    await endAttempt(ctx, attemptId, { wip: null, survivors: await kill(attemptId) });
  }
}

async function loseAttempt(ctx: Context, { attemptId, repo, id, generation }: StoredAttempt): Promise<void> {
  await transact(ctx, async (tx) => {
    const task = await lockTask(tx, repo, id);
    const attempt = task && (await updateAttempt(tx, attemptId, null, {}));
    if (!attempt) return;
    const notes = await endAttemptIn(tx, attempt, "lost", BY);
    const error = "whoever ran it was not heard of for an hour: submit it again";
    if (task.generation === generation) await updateTask(tx, task, { error });
    await writeNotes(tx, notes);
  });
}
