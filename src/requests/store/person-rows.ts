import type { Queryable, Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

/** No message that was to be sent to the person is sent any more. */
export async function skipQueuedTo(tx: Tx, person: string): Promise<void> {
  await tx.all(
    sql`UPDATE deliveries SET state = 'skipped', changed_at = (SELECT parley_now())
      WHERE person = ${person} AND state = 'queued'`,
  );
}

/** Returns where messages to the person went, as JSON. */
export async function listMessageTargets(on: Queryable, person: string): Promise<string[]> {
  const rows = await on.all<{ target: string }>(
    sql`SELECT DISTINCT coalesce(long_target, target) AS target FROM deliveries WHERE person = ${person}`,
  );
  return rows.map(({ target }) => target);
}

/** Returns the open requests whose audience holds one of these addresses, without the calls of plans. */
export async function listOpenAt(on: Queryable, addresses: readonly string[]): Promise<string[]> {
  if (addresses.length === 0) return [];
  const each = addresses.map((address) => sql`lower(audience) LIKE ${`%${address.toLowerCase()}%`}`);
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM requests WHERE state = 'open' AND plan IS NULL AND (${join(each, " OR ")}) ORDER BY ask_id`,
  );
  return rows.map(({ ask_id: id }) => id);
}
