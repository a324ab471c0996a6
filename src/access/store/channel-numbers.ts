import { one, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** Takes the next number that names a human or a conversation: one sequence, so that a number is never both. */
export async function nextChannelNumber(tx: Tx): Promise<number> {
  const row = await one<{ last: number }>(
    tx,
    sql`UPDATE numbers SET last = last + 1 WHERE name = 'channel' RETURNING last`,
  );
  return row.last;
}
