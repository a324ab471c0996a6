import type { RequestId } from "../../core/model/ids.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { join, raw, sql } from "../../core/store/sql.ts";
import { isFrozen } from "../../policy/store/freezes.ts";

/**
 * Returns up to `limit` requests that have been over for `keptMs`; the calls of a plan go with it. Those of a frozen agent
 * stay, because it has not been told of all of them.
 */
export async function findOutlivedRequests(on: Queryable, keptMs: number, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM requests WHERE state <> 'open' AND settled_at <= (SELECT parley_now()) - ${keptMs} AND plan IS NULL
        AND NOT ${isFrozen(raw("asker"))}
      ORDER BY settled_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Deletes settled requests with their decisions and deliveries, and plans with their calls and images. */
export async function deleteRequest(tx: Tx, requestIds: readonly RequestId[]): Promise<void> {
  await tx.all(sql`DELETE FROM plan_images WHERE plan IN (${join([...requestIds])})`);
  const calls = await tx.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM requests WHERE plan IN (${join([...requestIds])})`,
  );
  const all = [...requestIds, ...calls.map((row) => row.ask_id)];
  for (let from = 0; from < all.length; from += DELETED_AT_ONCE) {
    await deleteRows(tx, all.slice(from, from + DELETED_AT_ONCE));
  }
}

/** Each is a parameter of a statement. */
const DELETED_AT_ONCE = 1000;

async function deleteRows(tx: Tx, requestIds: readonly RequestId[]): Promise<void> {
  const ids = join([...requestIds]);
  for (const table of ["decisions", "deliveries", "request_recipients"] as const) await tx.all(deleteOf(table, ids));
  await tx.all(sql`DELETE FROM requests WHERE ask_id IN (${ids}) AND state <> 'open'`);
  // Last, because a report or a claim that held its request until now may have stored its first row.
  await tx.all(sql`DELETE FROM call_outcomes WHERE ask_id IN (${ids})`);
}

function deleteOf(table: "decisions" | "deliveries" | "request_recipients", ids: ReturnType<typeof join>) {
  switch (table) {
    case "decisions":
      return sql`DELETE FROM decisions WHERE ask_id IN (${ids})`;
    case "deliveries":
      return sql`DELETE FROM deliveries WHERE ask_id IN (${ids})`;
    case "request_recipients":
      return sql`DELETE FROM request_recipients WHERE ask_id IN (${ids})`;
  }
}
