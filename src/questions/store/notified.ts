import type { QuestionId } from "../../core/model/ids.ts";
import { first, type Queryable } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

/** Returns when one of these names was notified of the question, or nothing. */
export async function findNotifiedAt(
  on: Queryable,
  questionId: QuestionId,
  people: readonly string[],
): Promise<number | null> {
  if (people.length === 0) return null;
  const row = await first<{ told_at: number | null }>(
    on,
    sql`SELECT min(told_at) AS told_at FROM notices WHERE ask_id = ${questionId} AND kind = 'crowd'
      AND person IN (${join([...people])})`,
  );
  return row?.told_at ?? null;
}
