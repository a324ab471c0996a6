import type { Context } from "../context.ts";
import { runOfTask, type ReadableNote } from "../requests/model/agent-note.ts";
import { waitForNotes } from "../requests/notes/give-notes.ts";
import { NotHeld, type Held } from "./attempt-steps.ts";
import { findAttempt } from "./store/attempts.ts";
import { findTask } from "./store/tasks.ts";

/**
 * Returns the waiting notes that the agent of an attempt does not know yet, as soon as there are any; none once `waitMs`
 * has passed. A note to the work that came after this attempt is never among them.
 *
 * @throws {NotHeld} for an attempt that is over, or whose task was submitted anew meanwhile
 */
export async function waitForAttemptNotes(
  ctx: Context,
  { attemptId }: Held,
  how: Parameters<typeof waitForNotes>[2],
): Promise<ReadableNote[]> {
  const { repo, id, generation } = await attemptAtWork(ctx, attemptId);
  const notes = await waitForNotes(ctx, runOfTask(repo, id), how);
  if (notes.length === 0) return notes;
  // Read after the notes: what is still this work now was this work when they were read.
  const now = await attemptAtWork(ctx, attemptId);
  return now.generation === generation ? notes : [];
}

async function attemptAtWork({ db }: Pick<Context, "db">, attemptId: string) {
  const attempt = await findAttempt(db, attemptId);
  const task = attempt && (await findTask(db, attempt.repo, attempt.id));
  const isAtWork = attempt?.endedAt === null && attempt.state !== "ending" && task?.generation === attempt.generation;
  if (!attempt || !isAtWork) throw new NotHeld(attemptId);
  return attempt;
}
