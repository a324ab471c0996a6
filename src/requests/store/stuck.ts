import type { RequestId } from "../../core/model/ids.ts";
import type { Queryable } from "../../core/store/db.ts";
import { join, raw, sql } from "../../core/store/sql.ts";
import { frozenFlag } from "../../policy/store/freezes.ts";
import type { MessageState } from "../model/stuck.ts";
import { requestRows, toRequestsAt, type RequestAt, type RequestRow } from "./requests.ts";
import type { Request } from "../model/request.ts";

/** Returns up to `limit` open requests on which nobody has pressed, the soonest deadline first. */
export async function listUnpressed(on: Queryable, limit: number): Promise<RequestAt[]> {
  const rows = await on.all<RequestRow>(
    sql`SELECT a.*, (SELECT parley_now()) AS now, ${frozenFlag(raw("a.asker"))} FROM requests a
      WHERE a.state = 'open' AND a.plan IS NULL AND a.press_due_at IS NULL
      ORDER BY a.expires_at, a.created_at, a.ask_id LIMIT ${limit}`,
  );
  return toRequestsAt(rows);
}

/** Returns the messages by which people are asked, by the ids of these requests. */
export async function listMessageStates(
  on: Queryable,
  requestIds: readonly RequestId[],
): Promise<Map<RequestId, MessageState[]>> {
  const found = new Map<RequestId, MessageState[]>();
  if (requestIds.length === 0) return found;
  const rows = await on.all<MessageState & { ask_id: RequestId }>(
    sql`SELECT ask_id, channel, state, last_error AS error FROM deliveries
      WHERE ask_id IN (${join([...requestIds])}) AND kind = 'ask' ORDER BY ask_id, changed_at DESC`,
  );
  for (const { ask_id: id, ...message } of rows) found.set(id, [...(found.get(id) ?? []), message]);
  return found;
}

/** In SQL, of outcomes without a known end: the words of the partial indexes `call_outcomes_without_end` and its like. */
export const withoutEnd = sql`state IN ('started', 'unknown')`;

/** A count of calls that have begun, and of those that were given up within the last week without a known end. */
export interface CallsWithoutEnd {
  started: number;
  unknown: number;
}

/** Returns what a statement has counted by state. */
export async function countByState(on: Queryable, table: "call_outcomes" | "ask_outcomes"): Promise<CallsWithoutEnd> {
  const rows = await on.all<{ state: "started" | "unknown"; count: number }>(
    sql`SELECT state, count(*) AS count FROM ${raw(table)}
      WHERE ${withoutEnd} AND (state = 'started' OR at > (SELECT parley_now()) - ${UNKNOWN_SHOWN_MS}) GROUP BY state`,
  );
  const of = (state: string) => rows.find((row) => row.state === state)?.count ?? 0;
  return { started: of("started"), unknown: of("unknown") };
}

/** A call without a known end is shown for so long after it was given up. */
export const UNKNOWN_SHOWN_MS = 7 * 86_400_000;

/** Returns up to `limit` requests whose call began and has no known end, the newest first, with when it was given up. */
export async function listUnknownCalls(on: Queryable, limit: number): Promise<{ request: Request; atMs: number }[]> {
  const rows = await on.all<RequestRow & { outcome_at: number }>(
    sql`SELECT a.*, o.at AS outcome_at FROM (SELECT ask_id, at FROM call_outcomes
        WHERE ${withoutEnd} AND state = 'unknown' AND at > (SELECT parley_now()) - ${UNKNOWN_SHOWN_MS}
        ORDER BY at DESC LIMIT ${limit}) AS o
      JOIN requests a ON a.ask_id = o.ask_id ORDER BY o.at DESC, o.ask_id DESC`,
  );
  return rows.map((row) => ({ request: requestRows.read(row), atMs: row.outcome_at }));
}
