import type { Context } from "../context.ts";
import type { Diffstat, Task } from "../model/assignment.ts";
import { isOver } from "../model/relay.ts";
import type { ReviewFacts } from "../model/task-asks.ts";
import { deleteAttempt, findAttempt, updateAttempt, type StoredAttempt } from "../store/aa-attempts.ts";
import { appendTaskEvents } from "../store/aa-events.ts";
import { lockTask, updateTask } from "../store/aa-tasks.ts";
import type { AuditNote } from "../store/audit.ts";
import type { Tx } from "../store/db.ts";
import { lockJob } from "../store/jobs.ts";
import { revokeKey } from "../store/keys.ts";
import { transact } from "../store/transact.ts";
import { holdAttempt, type Held } from "./attempt-steps.ts";
import { moveTaskIn } from "./move-task.ts";
import { moveJobIn, writeNotes } from "./relay-settle.ts";
import { askAboutConflictIn, askForReviewIn } from "./task-asks.ts";
import { withoutSecrets } from "./without-secrets.ts";

const BY = { kind: "server", id: "assignment" } as const;

/** What an attempt made: one commit, which is published. */
export interface AttemptResult extends ReviewFacts {
  commit: string;
  changed: boolean;
  diffstat: Diffstat;
}

/**
 * The commit stands, the task is up for review, and people are asked for it, all at once; said again it changes nothing.
 *
 * @throws {NotHeld}
 */
export async function completeAttempt(ctx: Context, held: Held, result: AttemptResult): Promise<void> {
  const { commit, changed, diffstat, branch, warnings } = result;
  await transact(ctx, async (tx) => {
    const known = await findAttempt(tx, held.attemptId);
    if (known?.outcome === "completed" && known.commitSha === commit) return;
    const { attempt, task } = await holdAttempt(tx, held, {
      ...{ state: "ended", outcome: "completed", commitSha: commit, changed },
    });
    const notes = await closeIn(tx, attempt, { to: "SUCCEEDED", result: { commit, changed, branch } });
    const reviewAsk = await askForReviewIn(ctx, tx, task, attempt, result);
    // point: attempt-between-ask-and-review
    await moveTaskIn(ctx, tx, task, "review", {
      ...{ commit, changed, diffstat, branch, reviewAsk, error: null, feedback: null, resolveConflict: false },
      ...(branch !== null && { publishedSha: commit }),
      warnings: [...task.warnings, ...warnings],
    });
    await writeNotes(tx, notes);
  });
}

/** The task has failed, and says why; what was done is kept under a ref. @throws {NotHeld} */
export async function failAttempt(ctx: Context, held: Held, why: string, wip: string | null): Promise<void> {
  const error = await withoutSecrets(ctx, why);
  await transact(ctx, async (tx) => {
    const { attempt, task } = await holdAttempt(tx, held, { state: "ended", outcome: "failed" });
    const notes = await closeIn(tx, attempt, { to: "FAILED", reason: error });
    await moveTaskIn(ctx, tx, task, "failed", { error }, keptEvent(wip));
    await writeNotes(tx, notes);
  });
}

/** An attempt whose dependencies do not merge never was; people are asked what to do. @throws {NotHeld} */
export async function withdrawAttempt(
  ctx: Context,
  held: Held,
  conflict: { paths: readonly string[]; deps: readonly string[] },
): Promise<void> {
  await transact(ctx, async (tx) => {
    const { attempt, task } = await holdAttempt(tx, held);
    const notes = await closeIn(tx, attempt, { to: "CANCELED", reason: "dependencies do not merge" });
    await deleteAttempt(tx, attempt.attemptId);
    const reviewAsk = await askAboutConflictIn(ctx, tx, task, conflict);
    const change = { reviewAsk, attempt: attempt.n - 1, started: task.started - 1 };
    await moveTaskIn(ctx, tx, task, "conflict", change, [
      { type: "git", data: { message: "dependencies do not merge", paths: conflict.paths } },
    ]);
    await writeNotes(tx, notes);
  });
}

/**
 * An attempt that was to end has ended: none of its processes is left. Its task is canceled, where it is still the same
 * submission. With survivors it has not: they are named, and nothing new may start (contract-assignment.md, section 9).
 */
export async function endAttempt(
  ctx: Context,
  attemptId: string,
  { wip, survivors }: { wip: string | null; survivors: readonly number[] },
): Promise<void> {
  await transact(ctx, async (tx) => {
    const known = await findAttempt(tx, attemptId);
    if (!known || known.endedAt !== null) return;
    const task = await lockTask(tx, known.repo, known.id);
    if (!task) return;
    const isOfTask = task.generation === known.generation;
    if (survivors.length > 0) {
      const error = `a process of its agent does not end (pid ${survivors.join(", ")}): end it by hand`;
      await updateAttempt(tx, attemptId, null, { state: "ending", outcome: known.outcome ?? "canceled" });
      if (isOfTask && task.error !== error) await updateTask(tx, task, { error });
      return;
    }
    const outcome = known.outcome ?? "canceled";
    const attempt = await updateAttempt(tx, attemptId, null, { state: "ended", outcome });
    if (!attempt) return;
    const notes = await closeIn(tx, attempt, { to: "CANCELED", reason: outcome });
    if (isOfTask && isAtWork(task)) {
      const error = task.error ?? "its attempt was taken over by somebody else";
      const to = task.state === "committing" || outcome === "lost" ? "failed" : "canceled";
      await moveTaskIn(ctx, tx, task, to, { error }, keptEvent(wip));
    } else await appendTaskEvents(tx, known.repo, known.id, known.n, keptEvent(wip));
    await writeNotes(tx, notes);
  });
}

function isAtWork({ state }: Task): boolean {
  return ["preparing", "running", "awaiting_answer", "interrupted", "committing"].includes(state);
}

function keptEvent(wip: string | null): { type: "git"; data: Record<string, unknown> }[] {
  return wip === null ? [] : [{ type: "git", data: { message: `unfinished work is kept as ${wip}`, commit: wip } }];
}

/** The job and the key of an attempt are over with it; entries of the record are returned, and not written. */
async function closeIn(
  tx: Tx,
  { jobId, keyId }: StoredAttempt,
  { to, ...more }: { to: "SUCCEEDED" | "FAILED" | "CANCELED"; reason?: string; result?: unknown },
): Promise<AuditNote[]> {
  if (keyId !== null) await revokeKey(tx, keyId);
  const job = await lockJob(tx, jobId);
  if (!job || isOver(job.job.state)) return [];
  // One whose lease ran out a moment ago waits in line, and can only be taken back.
  const end = job.job.state === "QUEUED" ? "CANCELED" : to;
  return (await moveJobIn(tx, job, end, { by: BY, ...more })).notes;
}
