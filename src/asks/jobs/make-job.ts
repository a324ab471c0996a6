import type { Context } from "../../context.ts";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { uuidV7 } from "../../lib/uuid.ts";
import { EXTERNAL_IDLE_MS } from "../model/job-rules.ts";
import type { Job } from "../model/ask.ts";
import { isServed } from "../model/rules.ts";
import { Refusal } from "../../refusals.ts";
import { appendJobEvents, findJob, insertJobIfNew, lockJob } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";
import { CLAIMS_TOPIC } from "../../core/store/wake.ts";
import { moveNote, statusOf } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";

/** A checked job, but for what the store gives it. */
export type JobInput = Pick<
  Job,
  "kind" | "external" | "owner" | "spec" | "env" | "repo" | "labels" | "priority" | "maxAttempts"
> & {
  /** Absent: it gets one. */
  id?: string;
  ttlS: number;
};

/**
 * Puts a job in line, or begins one that its owner runs; or returns the one that its id and body already stand for.
 *
 * An external job lives until nobody has spoken of it for a week, whatever its own time to live.
 *
 * @throws {Refusal} `job_id_taken` also where somebody else has used the id, `feature_disabled`
 */
export async function makeJob(ctx: Context, input: JobInput): Promise<{ job: Job; made: boolean }> {
  const { id: given, ttlS, ...rest } = input;
  const id = given ?? `job_${uuidV7(ctx.clock.now(), ctx.random)}`;
  if (!isServed(ctx.relay, { id, labels: input.labels })) throw new Refusal("feature_disabled");
  const bodyHash = sha256Hex(canonicalExact({ ...rest, owner: undefined, ttlS }));
  const ttlMs = input.external ? EXTERNAL_IDLE_MS : ttlS * 1000;

  return transact(ctx, async (tx) => {
    const existing = given === undefined ? undefined : await findJob(tx, id);
    const inserted = existing ? undefined : await insertJobIfNew(tx, { ...rest, id, bodyHash, ttlMs });
    if (!inserted) {
      const other = existing ?? (await lockJob(tx, id));
      if (other?.job.owner !== input.owner || other.bodyHash !== bodyHash)
        throw new Refusal("job_id_taken", { job_id: id });
      return { job: other.job, made: false };
    }
    await appendJobEvents(tx, inserted, [statusOf(inserted, null)]);
    // point: job-made
    await writeNotes(tx, [moveNote(inserted, null, { kind: "agent", id: input.owner })]);
    if (!input.external) tx.wake(CLAIMS_TOPIC);
    return { job: inserted.job, made: true };
  });
}
