import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

const OF_OPEN = sql`link_hash IS NOT NULL AND ask_id IN (SELECT ask_id FROM requests WHERE state = 'open')`;

/** Counts the messages about open requests that were sent with a link or a reply address. */
export async function countOpenLinks(on: Queryable): Promise<number> {
  const { count } = await one<{ count: number }>(
    on,
    sql`SELECT count(*) AS count FROM deliveries WHERE ${OF_OPEN} AND state = 'sent'`,
  );
  return count;
}

/**
 * Messages about open requests are found by what will stand in them from now on; those about others are found by nothing
 * that ever stood in them.
 */
export async function changeTokens(
  tx: Tx,
  hashesOf: (deliveryId: string) => { linkHash: string; replyHash: string },
): Promise<void> {
  const open = await tx.all<{ id: string }>(sql`SELECT delivery_id AS id FROM deliveries WHERE ${OF_OPEN}`);
  await tx.all(sql`UPDATE deliveries SET link_hash = NULL, reply_hash = NULL WHERE link_hash IS NOT NULL`);
  for (const { id } of open) {
    const { linkHash, replyHash } = hashesOf(id);
    await tx.all(
      sql`UPDATE deliveries SET link_hash = ${linkHash}, reply_hash = ${replyHash} WHERE delivery_id = ${id}`,
    );
  }
}
