import type { Wait } from "../model/wait.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { join, sql } from "../../core/store/sql.ts";

const waitRows = rowsOf<Wait>()({
  id: "wait_id",
  asker: "asker",
  questionId: "ask_id",
  wanted: "wanted",
  createdAt: "created_at",
  keptUntil: "kept_until",
  cancelledAt: "cancelled_at",
});

/** Inserts a wait that begins in the store's present second and is kept for `keptMs`. */
export async function insertWait(
  tx: Tx,
  wait: Pick<Wait, "id" | "asker" | "questionId" | "wanted"> & { keptMs: number },
): Promise<Wait> {
  const { now } = await one<{ now: number }>(tx, sql`SELECT parley_now() AS now`);
  const createdAt = now - (now % 1000);
  return waitRows.one(
    tx,
    sql`INSERT INTO waits (wait_id, asker, ask_id, wanted, created_at, kept_until)
      VALUES (${wait.id}, ${wait.asker}, ${wait.questionId}, ${wait.wanted}, ${createdAt}, ${createdAt + wait.keptMs})
      RETURNING *`,
  );
}

/** Returns those of the waits that exist and are the asker's own. */
export async function findWaits(on: Queryable, waitIds: readonly string[], asker: string): Promise<Wait[]> {
  if (waitIds.length === 0) return [];
  return waitRows.all(on, sql`SELECT * FROM waits WHERE wait_id IN (${join([...waitIds])}) AND asker = ${asker}`);
}

/** Ends a wait that nobody ended before; the caller holds its question and has seen that it is not over. */
export async function cancelWaitIfOpen(tx: Tx, waitId: string): Promise<boolean> {
  const row = await first(
    tx,
    sql`UPDATE waits SET cancelled_at = parley_now() WHERE wait_id = ${waitId} AND cancelled_at IS NULL RETURNING wait_id`,
  );
  return row !== undefined;
}
