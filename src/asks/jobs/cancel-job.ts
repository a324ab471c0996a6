import type { Context } from "../../context.ts";
import type { Job } from "../model/ask.ts";
import { Refusal } from "../../refusals.ts";
import { lockJob } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";
import { refuseOver } from "./hold-job.ts";
import { refuseUnserved, type JobReader } from "./read-job.ts";
import { moveJobIn } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";

/**
 * Ends a job without a result, whoever works on it, for its owner or an administrator; once more changes nothing.
 *
 * @throws {Refusal} `job_not_found` also for somebody else's, `feature_disabled`, `job_closed` when it ended otherwise
 */
export async function cancelJob(ctx: Context, id: string, by: JobReader, reason?: string): Promise<Job> {
  const why = await withoutSecrets(ctx, reason);
  return transact(ctx, async (tx) => {
    const held = await lockJob(tx, id);
    if (!held || (held.job.owner !== by.principal && !by.isAdmin)) throw new Refusal("job_not_found");
    refuseUnserved(ctx, held.job);
    if (held.job.state === "CANCELED") return held.job;
    refuseOver(held);
    const { job, notes } = await moveJobIn(tx, held, "CANCELED", {
      by: { kind: by.isAdmin ? "admin" : "agent", id: by.principal },
      ...(why !== undefined && { reason: why }),
    });
    await writeNotes(tx, notes);
    return job.job;
  });
}
