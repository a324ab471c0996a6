import type { Context } from "../context.ts";
import type { Diffstat, Task } from "./model/task.ts";
import { isOver } from "../asks/model/ask.ts";
import { conflictReason, newConflict } from "./model/conflict.ts";
import type { ReviewFacts } from "./model/task-asks.ts";
import { deleteAttempt, findAttempt, updateAttempt, type StoredAttempt } from "./store/attempts.ts";
import { appendTaskEvents } from "./store/events.ts";
import { lockTask, updateTask } from "./store/tasks.ts";
import type { AuditNote } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { lockJob } from "../asks/store/jobs.ts";
import { revokeKey } from "../access/store/keys.ts";
import { transact } from "../core/store/transact.ts";
import { holdAttempt, type Held } from "./attempt-steps.ts";
import { moveTaskIn } from "./move.ts";
import { moveJobIn } from "../asks/end/settle.ts";
import { writeNotes } from "../core/store/audit.ts";
import { askAboutConflictIn, askForReviewIn } from "./ask-people.ts";
import { withoutSecrets } from "../core/without-secrets.ts";

const BY = { kind: "server", id: "assignment" } as const;

/** The result of an attempt: one commit, which is published. */
export interface AttemptResult extends ReviewFacts {
  commit: string;
  changed: boolean;
  diffstat: Diffstat;
}

/**
 * The commit stands, the task is up for review, and people are asked for it, all at once; a repeat changes nothing.
 *
 * @throws {NotHeld}
 */
export async function completeAttempt(ctx: Context, held: Held, result: AttemptResult): Promise<void> {
  const { commit, changed, diffstat, branch, warnings } = result;
  await transact(ctx, async (tx) => {
    const known = await findAttempt(tx, held.attemptId);
    if (known?.outcome === "completed" && known.commitSha === commit) return;
    const { attempt, task } = await holdAttempt(tx, held, {
      state: "ended",
      outcome: "completed",
      commitSha: commit,
      changed,
    });
    const notes = await closeIn(tx, attempt, { to: "SUCCEEDED", result: { commit, changed, branch } });
    const reviewAsk = await askForReviewIn(ctx, tx, task, { attempt, facts: result });
    // point: attempt-between-ask-and-review
    await moveTaskIn(ctx, tx, task, {
      to: "review",
      commit,
      changed,
      diffstat,
      branch,
      reviewAsk,
      error: null,
      feedback: null,
      resolveConflict: false,
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
    await moveTaskIn(ctx, tx, task, { to: "failed", error, events: keptEvent(wip) });
    await writeNotes(tx, notes);
  });
}

/** An attempt whose dependencies do not merge never was; people are asked what to do. @throws {NotHeld} */
export async function withdrawAttempt(
  ctx: Context,
  held: Held,
  found: { paths: readonly string[]; deps: readonly string[] },
): Promise<void> {
  const conflict = newConflict(found);
  const blockedReason = conflictReason(conflict);
  await transact(ctx, async (tx) => {
    const { attempt, task } = await holdAttempt(tx, held);
    const notes = await closeIn(tx, attempt, { to: "CANCELED", reason: "dependencies do not merge" });
    await deleteAttempt(tx, attempt.attemptId);
    const reviewAsk = await askAboutConflictIn(ctx, tx, task, found);
    await moveTaskIn(ctx, tx, task, {
      to: "conflict",
      reviewAsk,
      conflict,
      blockedReason,
      attempt: attempt.n - 1,
      started: task.started - 1,
      events: [{ type: "git", data: { message: "dependencies do not merge", paths: found.paths } }],
    });
    await writeNotes(tx, notes);
  });
}

/**
 * An attempt that was to end has ended: none of its processes is left. Its task is canceled, where it is still the same
 * submission. With survivors it has not: they are named, and nothing new may start (spec/assignment 9).
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
      await moveTaskIn(ctx, tx, task, { to, error, events: keptEvent(wip) });
    } else await appendTaskEvents(tx, { repo: known.repo, id: known.id, attempt: known.n }, keptEvent(wip));
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
