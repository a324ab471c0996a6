import type { AskId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { LOG_LEVELS } from "../model/job-rules.ts";
import { appendJobEvents } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";
import { holdForWriter, refuseOver, type Writer } from "./hold-job.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";

/** One thing that an executor says of its work. */
export interface JobLog {
  stepId?: string;
  askId?: AskId;
  level: (typeof LOG_LEVELS)[number];
  message: string;
  fields?: Readonly<Record<string, unknown>>;
}

/**
 * Appends an executor's log lines to its job's events, in their order, and either all of them or none. Secrets found
 * in them are removed first.
 *
 * @throws {Refusal} `job_not_found`, `feature_disabled`, `fenced`, `job_closed`
 */
export async function logJob(ctx: Context, id: string, by: Writer, logs: readonly JobLog[]): Promise<void> {
  const clean = await withoutSecrets(ctx, logs);
  await transact(ctx, async (tx) => {
    const held = await holdForWriter(ctx, tx, id, by);
    refuseOver(held);
    await appendJobEvents(
      tx,
      held,
      clean.map(({ stepId, askId, level, message, fields }) => ({
        event: "log",
        body: {
          job_id: id,
          ...(stepId !== undefined && { step_id: stepId }),
          ...(askId !== undefined && { ask_id: askId }),
          level,
          message,
          ...(fields && { fields }),
          at: held.now,
        },
      })),
    );
  });
}
