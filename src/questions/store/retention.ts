import type { QuestionId } from "../../core/model/ids.ts";
import { type Queryable, type Tx } from "../../core/store/db.ts";
import { deleteFallbacks } from "./fallbacks.ts";
import { join, sql } from "../../core/store/sql.ts";

/**
 * Returns up to `limit` settled questions whose time in the store is over: `closedMs` after the last answer, `expiredMs`
 * after expiry or cancelling, and no wait on them is kept any longer.
 */
export async function findOutlivedQuestions(
  on: Queryable,
  kept: { closedMs: number; expiredMs: number },
  limit: number,
): Promise<string[]> {
  const shortest = Math.min(kept.closedMs, kept.expiredMs);
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM questions
      WHERE state <> 'open' AND settled_at <= (SELECT parley_now()) - ${shortest}
        AND (state <> 'answered' OR settled_at <= (SELECT parley_now()) - ${kept.closedMs})
        AND (state = 'answered' OR settled_at <= (SELECT parley_now()) - ${kept.expiredMs})
        AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.ask_id = questions.ask_id AND w.kept_until > (SELECT parley_now()))
      ORDER BY settled_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Deletes settled questions with everything that belongs to them; an open one among them is left whole. */
export async function deleteSettledQuestions(tx: Tx, questionIds: readonly QuestionId[]): Promise<void> {
  const settled = await tx.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM questions WHERE ask_id IN (${join([...questionIds])}) AND state <> 'open'`,
  );
  if (settled.length === 0) return;
  const ids = join(settled.map((row) => row.ask_id));
  await tx.all(sql`DELETE FROM responses WHERE ask_id IN (${ids})`);
  // point: retention-between-tables
  await tx.all(sql`DELETE FROM outcomes WHERE ask_id IN (${ids})`);
  await tx.all(sql`DELETE FROM reports WHERE ask_id IN (${ids})`);
  await tx.all(sql`DELETE FROM views WHERE ask_id IN (${ids})`);
  await deleteFallbacks(
    tx,
    settled.map((row) => row.ask_id),
  );
  await tx.all(sql`DELETE FROM waits WHERE ask_id IN (${ids})`);
  await tx.all(sql`DELETE FROM questions WHERE ask_id IN (${ids})`);
}
