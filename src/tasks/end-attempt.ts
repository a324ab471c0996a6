import type { RequestId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import type { Attempt } from "./model/task.ts";
import { isOver } from "../asks/model/ask.ts";
import { Refusal } from "../refusals.ts";
import { updateAttempt } from "./store/attempts.ts";
import type { Actor, AuditNote } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { lockJob } from "../asks/store/jobs.ts";
import { cancelRequest } from "../requests/end/end.ts";
import { moveJobIn } from "../asks/end/settle.ts";

/**
 * Marks an attempt to end without a result. Nothing more is stored in its name, its requests are closed, and its
 * workshop kills its processes. Until these are proven dead it is `ending`. The caller holds its task.
 *
 * One that is ending already stays as it is. Entries of the record are returned, and not written.
 */
export async function endAttemptIn(
  tx: Tx,
  attempt: Attempt,
  outcome: "canceled" | "superseded" | "lost",
  by: Actor,
): Promise<AuditNote[]> {
  if (attempt.state === "ending") return [];
  const job = await lockJob(tx, attempt.jobId);
  const isOpen = job !== undefined && !isOver(job.job.state);
  const moved = isOpen ? await moveJobIn(tx, job, "CANCELED", { by, reason: outcome }) : undefined;
  const epoch = moved?.job.job.epoch ?? attempt.epoch + 1;
  await updateAttempt(tx, attempt.attemptId, null, { state: "ending", outcome, epoch });
  return moved?.notes ?? [];
}

/** Takes back what people were asked about a task's work, where nobody has decided it; what is over stays so. */
export async function withdrawReview(ctx: Context, requestId: RequestId | null | undefined, by: Actor): Promise<void> {
  if (!requestId) return;
  try {
    await cancelRequest(ctx, requestId, by);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}
