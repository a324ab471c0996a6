import type { AskId, RequestId } from "../../core/model/ids.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { join, raw, sql } from "../../core/store/sql.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { isFrozen } from "../../policy/store/freezes.ts";
import type { CallOutcome } from "../../requests/model/call-outcome.ts";
import { endReportTime } from "../../requests/store/call-outcomes.ts";

const outcomeRows = rowsOf<CallOutcome>()({
  state: "state",
  at: "at",
  dueAt: "due_at",
  run: "run",
  resultDigest: "result_digest",
  words: "words",
});

/** Stores the outcome of the call that an ask allowed, in place of the one before. */
export async function upsertAskOutcome(tx: Tx, askId: AskId, outcome: CallOutcome): Promise<void> {
  const { state, at, dueAt, run, resultDigest, words } = outcome;
  await tx.all(
    sql`INSERT INTO ask_outcomes (ask_id, state, at, due_at, run, result_digest, words)
      VALUES (${askId}, ${state}, ${at}, ${dueAt}, ${run}, ${resultDigest}, ${words})
      ON CONFLICT (ask_id) DO UPDATE SET state = excluded.state, at = excluded.at, due_at = excluded.due_at,
        run = excluded.run, result_digest = excluded.result_digest, words = excluded.words`,
  );
}

export async function findAskOutcome(on: Queryable, askId: AskId): Promise<CallOutcome | undefined> {
  return outcomeRows.first(on, sql`SELECT * FROM ask_outcomes WHERE ask_id = ${askId}`);
}

/** Holds the stored outcome of an ask to the end of the transaction; its job is held before it. */
export async function lockAskOutcome(tx: Tx, askId: AskId): Promise<CallOutcome | undefined> {
  return outcomeRows.first(tx, lockedRows(tx, "ask_outcomes", sql`ask_id = ${askId}`));
}

/** Returns up to `limit` asks whose call should have been reported by now, the oldest first; a frozen asker's waits. */
export async function findUnreportedAsks(on: Queryable, limit: number): Promise<AskId[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM ask_outcomes o WHERE due_at IS NOT NULL AND due_at <= (SELECT parley_now())
        AND NOT (o.state = 'awaited'
          AND EXISTS (SELECT 1 FROM asks a WHERE a.ask_id = o.ask_id AND ${isFrozen(raw("a.principal"))}))
      ORDER BY due_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/**
 * The time for a report of the calls of a held job is over now, of those in one of these states: an outcome ends as
 * after an hour without a word.
 */
export async function endReportTimesOfJob(
  tx: Tx,
  jobId: string,
  states: readonly CallOutcome["state"][],
): Promise<void> {
  const rows = await tx.all<{ addressed_id: RequestId }>(
    sql`SELECT addressed_id FROM asks WHERE job_id = ${jobId} AND status = 'ANSWERED' AND addressed_id IS NOT NULL`,
  );
  await endReportTime(
    tx,
    rows.map((row) => row.addressed_id),
    states,
  );
  await tx.all(
    sql`UPDATE ask_outcomes SET due_at = parley_now() WHERE ask_id IN (SELECT a.ask_id FROM asks a WHERE a.job_id = ${jobId})
      AND state IN (${join([...states])}) AND due_at > parley_now()`,
  );
  if (rows.length > 0) tx.wake(INBOX_TOPIC);
}
