import type { Context } from "../context.ts";
import { isTaskOver, mayMoveTask, statusOfTask, type Task } from "./model/task.ts";
import { Refusal } from "../refusals.ts";
import { findAttempt, findLiveAttempt } from "./store/attempts.ts";
import { findTask, lockTask, updateTask } from "./store/tasks.ts";
import type { Actor } from "../core/store/audit.ts";
import { transact } from "../core/store/transact.ts";
import { taskTopic, watch } from "../core/store/wake.ts";
import { endAttemptIn, withdrawReview } from "./end-attempt.ts";
import { moveTaskIn } from "./move.ts";
import { writeNotes } from "../core/store/audit.ts";

/** How long killing may take. After this the caller receives `task_ending`. */
const LONGEST_MS = 60_000;
const LOOK_EVERY_MS = 1000;

/**
 * Cancels a task, and resolves when no process of it is left. A task that has ended is returned unchanged. A task that
 * had not started ends at once. For a running task, nothing of it is stored from the beginning on, and this waits until
 * its workshop has killed everything and moved it to `canceled`. A commit that is being made is waited for, and stays.
 *
 * @throws {Refusal} `task_not_found`; `task_ending` when processes are left after a minute: it ends all the same
 */
export async function cancelTask(
  ctx: Context,
  { repo, id }: Pick<Task, "repo" | "id">,
  { by, name }: { by: Actor; name: string },
  signal: AbortSignal,
): Promise<Task> {
  using changes = watch(ctx, [taskTopic(repo, id)], [signal, ctx.stopping]);
  const until = ctx.clock.monotonic() + LONGEST_MS;
  const { first, attemptId, ask } = await transact(ctx, async (tx) => {
    const held = await lockTask(tx, repo, id);
    if (!held) throw new Refusal("task_not_found", { id });
    const running = await findLiveAttempt(tx, repo, id);
    const waitsFor = { attemptId: running?.attemptId ?? null, ask: held.reviewAsk };
    if (isTaskOver(held.state)) return { first: held, ...waitsFor, ask: null };
    const error = `canceled by ${name}`;
    const isUnstarted = statusOfTask(held.state) === "queued" || !running;
    if (isUnstarted && mayMoveTask(held.state, "canceled")) {
      return { first: await moveTaskIn(ctx, tx, held, { to: "canceled", error, by }), ...waitsFor };
    }
    if (running && held.state !== "committing" && running.state !== "ending") {
      const notes = await endAttemptIn(tx, running, "canceled", by);
      const marked = await updateTask(tx, held, { error });
      await writeNotes(tx, notes);
      return { first: marked, ...waitsFor };
    }
    return { first: held, ...waitsFor };
  });
  await withdrawReview(ctx, ask, by);

  for (let task = first; ;) {
    const running = attemptId === null ? undefined : await findAttempt(ctx.db, attemptId);
    const isReplaced = task.generation !== first.generation;
    if ((isTaskOver(task.state) || isReplaced) && running?.endedAt !== null) return task;
    const leftMs = until - ctx.clock.monotonic();
    if (leftMs <= 0 || signal.aborted || ctx.stopping.aborted) {
      throw new Refusal("task_ending", { id, state: task.state, ...(task.error !== null && { error: task.error }) });
    }
    await changes.next(Math.min(leftMs, LOOK_EVERY_MS));
    task = (await findTask(ctx.db, repo, id)) ?? task;
  }
}
