import type { QuestionId } from "../../core/model/ids.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { join, sql } from "../../core/store/sql.ts";
import { SHOWN_REQUESTS } from "../../requests/store/tables.ts";

/** A question that goes to a named person when nobody of the crowd answers. */
export interface Fallback {
  questionId: QuestionId;
  person: string;
  /** The request to the person, once it was made. */
  addressedId: string | null;
}

const fallbackRows = rowsOf<Fallback>()({
  questionId: "ask_id",
  person: "person",
  addressedId: "addressed_id",
});

/** The question goes to the person at `dueAt`, unless somebody has answered it by then. */
export async function insertFallback(tx: Tx, questionId: QuestionId, person: string, dueAt: number): Promise<void> {
  await tx.all(
    sql`INSERT INTO fallbacks (ask_id, person, due_at, over) VALUES (${questionId}, ${person}, ${dueAt}, 0)`,
  );
}

/** Returns up to `limit` fallbacks that are due, and those under way whose person or question is done. */
export async function findDueFallbacks(on: Queryable, limit: number): Promise<Fallback[]> {
  return fallbackRows.all(
    on,
    sql`SELECT f.ask_id, f.person, f.addressed_id FROM fallbacks f
      JOIN questions q ON q.ask_id = f.ask_id LEFT JOIN ${SHOWN_REQUESTS} a ON a.ask_id = f.addressed_id
      WHERE f.over = 0 AND f.due_at <= (SELECT parley_now())
        AND (f.addressed_id IS NULL OR q.state <> 'open' OR a.state IS NULL OR a.state <> 'open')
      ORDER BY f.due_at LIMIT ${limit}`,
  );
}

export async function setFallbackAsked(tx: Tx, questionId: QuestionId, addressedId: string): Promise<void> {
  await tx.all(sql`UPDATE fallbacks SET addressed_id = ${addressedId} WHERE ask_id = ${questionId}`);
}

export async function setFallbackOver(tx: Tx, questionId: QuestionId): Promise<void> {
  await tx.all(sql`UPDATE fallbacks SET over = 1 WHERE ask_id = ${questionId}`);
}

/** Deletes the fallbacks of questions that are deleted. */
export async function deleteFallbacks(tx: Tx, questionIds: readonly QuestionId[]): Promise<void> {
  await tx.all(sql`DELETE FROM fallbacks WHERE ask_id IN (${join([...questionIds])})`);
}
