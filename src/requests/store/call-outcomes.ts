import type { RequestId } from "../../core/model/ids.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { join, raw, type Sql, sql } from "../../core/store/sql.ts";
import { isFrozen } from "../../policy/store/freezes.ts";
import type { CallOutcome } from "../model/call-outcome.ts";

/** The outcome of an approved call, with the id of its request. */
interface OutcomeOfRequest extends CallOutcome {
  requestId: RequestId;
}

const outcomeRows = rowsOf<OutcomeOfRequest>()({
  requestId: "ask_id",
  state: "state",
  at: "at",
  dueAt: "due_at",
  run: "run",
  resultDigest: "result_digest",
  words: "words",
});

/** True in SQL of the call of a request whose agent is frozen. */
const isFrozenCall = (requestId: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM requests a WHERE a.ask_id = ${requestId} AND ${isFrozen(raw("a.asker"))})`;

/** True in SQL of an approval that its frozen agent may not learn of yet. */
export const isHeldBack = (requestId: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM requests a WHERE a.ask_id = ${requestId} AND a.state <> 'open'
    AND a.outcome LIKE '%"approved":true%' AND ${isFrozen(raw("a.asker"))})`;

/** Stores the outcome of a call in place of the one before. */
export async function upsertCallOutcome(tx: Tx, requestId: RequestId, outcome: CallOutcome): Promise<void> {
  const { state, at, dueAt, run, resultDigest, words } = outcome;
  await tx.all(
    sql`INSERT INTO call_outcomes (ask_id, state, at, due_at, run, result_digest, words)
      VALUES (${requestId}, ${state}, ${at}, ${dueAt}, ${run}, ${resultDigest}, ${words})
      ON CONFLICT (ask_id) DO UPDATE SET state = excluded.state, at = excluded.at, due_at = excluded.due_at,
        run = excluded.run, result_digest = excluded.result_digest, words = excluded.words`,
  );
}

/** A run has a call that was awaited, for so long until it is given up; returns whether it was awaited. */
export async function startIfAwaited(
  tx: Tx,
  requestId: RequestId,
  run: string,
  withinMs: number | null,
): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE call_outcomes SET state = ${"started"}, run = ${run}, at = parley_now(), due_at = parley_now() + ${withinMs}
      WHERE ask_id = ${requestId} AND state = ${"awaited"} RETURNING ask_id`,
  );
  return rows.length > 0;
}

/**
 * The door of a call knows the end of it; the outcome is stored already, unless the approval is older than outcomes. A
 * known end stays.
 */
export async function endByDoor(
  tx: Tx,
  requestId: RequestId,
  { state, resultDigest }: { state: "done" | "failed" | "unknown" | "not_run"; resultDigest: string | null },
): Promise<void> {
  await tx.all(
    sql`UPDATE call_outcomes SET state = ${state}, at = parley_now(), due_at = NULL, result_digest = ${resultDigest}
      WHERE ask_id = ${requestId} AND state IN (${"awaited"}, ${"started"}, ${"unknown"})`,
  );
}

/** The time for a report of these calls is over now, where it was not: nobody can send one any more. */
export async function endReportTime(
  tx: Tx,
  requestIds: readonly RequestId[],
  states: readonly CallOutcome["state"][],
): Promise<void> {
  if (requestIds.length === 0) return;
  await tx.all(
    sql`UPDATE call_outcomes SET due_at = parley_now() WHERE ask_id IN (${join([...requestIds])})
      AND state IN (${join([...states])}) AND CASE WHEN due_at > parley_now() THEN 1 ELSE 0 END = 1`,
  );
}

export async function findCallOutcome(on: Queryable, requestId: RequestId): Promise<CallOutcome | undefined> {
  return outcomeRows.first(on, sql`SELECT * FROM call_outcomes WHERE ask_id = ${requestId}`);
}

/** Holds the stored outcome of a call to the end of the transaction; its request is held before it. */
export async function lockCallOutcome(tx: Tx, requestId: RequestId): Promise<CallOutcome | undefined> {
  return outcomeRows.first(tx, lockedRows(tx, "call_outcomes", sql`ask_id = ${requestId}`));
}

/** Returns the stored outcomes of these requests, by the ids of the requests. */
export async function findCallOutcomes(
  on: Queryable,
  requestIds: readonly RequestId[],
): Promise<Map<RequestId, CallOutcome>> {
  if (requestIds.length === 0) return new Map();
  const outcomes = await outcomeRows.all(
    on,
    sql`SELECT * FROM call_outcomes WHERE ask_id IN (${join([...requestIds])})`,
  );
  return new Map(outcomes.map((outcome) => [outcome.requestId, outcome]));
}

/** Returns up to `limit` requests whose call should have been reported by now, the oldest first; a frozen agent's waits. */
export async function findUnreported(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM call_outcomes c WHERE due_at IS NOT NULL AND due_at <= (SELECT parley_now())
        AND NOT (c.state = 'awaited' AND ${isFrozenCall(sql`c.ask_id`)})
      ORDER BY due_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}
