import type { AskId } from "../../core/model/ids.ts";
import type { Queryable } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";
import { SHOWN_QUESTIONS } from "../../questions/store/tables.ts";
import { SHOWN_REQUESTS } from "../../requests/store/tables.ts";

/** Returns asks to people that are open though what they stand for is over. */
export async function findOrphans(on: Queryable, door: string, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT p.ask_id FROM ${SHOWN_REQUESTS} p JOIN asks a ON a.addressed_id = p.ask_id
      WHERE p.state = 'open' AND p.door = ${door} AND a.status <> 'PENDING' LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Returns questions to the crowd that are open though what they stand for is over. */
export async function findQuestionOrphans(on: Queryable, door: string, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT q.ask_id FROM ${SHOWN_QUESTIONS} q LEFT JOIN asks a ON a.question_id = q.ask_id
      WHERE q.state = 'open' AND q.door = ${door} AND (a.ask_id IS NULL OR a.status <> 'PENDING') LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Returns which of these asks are over, for the polling fallback of wake-ups. */
export async function findEndedAsks(on: Queryable, askIds: readonly AskId[]): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM asks WHERE ask_id IN (${join([...askIds])}) AND status <> 'PENDING'`,
  );
  return rows.map((row) => row.ask_id);
}
