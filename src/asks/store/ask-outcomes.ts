import type { AskId, RequestId } from "../../core/model/ids.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { flag, rowsOf } from "../../core/store/rows.ts";
import { join, raw, sql } from "../../core/store/sql.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { frozenFlag, isFrozen } from "../../policy/store/freezes.ts";
import type { CallOutcome } from "../../requests/model/call-outcome.ts";
import { endReportTime } from "../../requests/store/call-outcomes.ts";

/** A stored outcome, with the principal whose freeze stops the time for its report. */
interface StoredOutcome extends CallOutcome {
  /** True while the asker is frozen. */
  isFrozen: boolean;
}

const outcomeRows = rowsOf<StoredOutcome>()({
  state: "state",
  at: "at",
  dueAt: "due_at",
  run: "run",
  resultDigest: "result_digest",
  words: "words",
  isFrozen: flag("frozen"),
});

const FROZEN = frozenFlag(raw("asker"));

/** Stores the outcome of the call that an ask allowed, in place of the one before; the asker stays the first one. */
export async function upsertAskOutcome(tx: Tx, askId: AskId, asker: string, outcome: CallOutcome): Promise<void> {
  const { state, at, dueAt, run, resultDigest, words } = outcome;
  await tx.all(
    sql`INSERT INTO ask_outcomes (ask_id, asker, state, at, due_at, run, result_digest, words)
      VALUES (${askId}, ${asker}, ${state}, ${at}, ${dueAt}, ${run}, ${resultDigest}, ${words})
      ON CONFLICT (ask_id) DO UPDATE SET state = excluded.state, at = excluded.at, due_at = excluded.due_at,
        run = excluded.run, result_digest = excluded.result_digest, words = excluded.words`,
  );
}

export async function findAskOutcome(on: Queryable, askId: AskId): Promise<StoredOutcome | undefined> {
  return outcomeRows.first(on, sql`SELECT *, ${FROZEN} FROM ask_outcomes WHERE ask_id = ${askId}`);
}

/** Holds the stored outcome of an ask to the end of the transaction; its job is held before it. */
export async function lockAskOutcome(tx: Tx, askId: AskId): Promise<StoredOutcome | undefined> {
  return outcomeRows.first(tx, lockedRows(tx, "ask_outcomes", sql`ask_id = ${askId}`, sql`, ${FROZEN}`));
}

/** Returns up to `limit` asks whose call should have been reported by now, the oldest first; a frozen asker's waits. */
export async function findUnreportedAsks(on: Queryable, limit: number): Promise<AskId[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM ask_outcomes o WHERE due_at IS NOT NULL AND due_at <= (SELECT parley_now())
        AND NOT (o.state = 'awaited' AND ${isFrozen(raw("o.asker"))})
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
  const rows = await tx.all<{ ask_id: AskId; addressed_id: RequestId | null }>(
    sql`SELECT ask_id, addressed_id FROM asks WHERE job_id = ${jobId} AND status = 'ANSWERED'
      AND ask_type IN ('APPROVAL', 'POLICY_DECISION')`,
  );
  const ofPeople = rows.flatMap(({ addressed_id: requestId }) => requestId ?? []);
  await endReportTime(tx, ofPeople, states);
  await endOwnReportTime(
    tx,
    rows.flatMap(({ ask_id: askId, addressed_id: requestId }) => (requestId === null ? askId : [])),
    states,
  );
  if (ofPeople.length > 0) tx.wake(INBOX_TOPIC);
}

async function endOwnReportTime(tx: Tx, askIds: readonly AskId[], states: readonly CallOutcome["state"][]) {
  if (askIds.length === 0) return;
  await tx.all(
    sql`UPDATE ask_outcomes SET due_at = parley_now() WHERE ask_id IN (${join([...askIds])})
      AND state IN (${join([...states])}) AND CASE WHEN due_at > parley_now() THEN 1 ELSE 0 END = 1`,
  );
}
