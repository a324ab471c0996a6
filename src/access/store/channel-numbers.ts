import { one, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** Takes the next number that names a human or a conversation: one sequence, so that a number is never both. */
export function nextChannelNumber(tx: Tx): Promise<number> {
  return nextNumber(tx, "channel");
}

/** Takes the next number of a sequence, whose row is held to the end of the transaction. */
export async function nextNumber(tx: Tx, name: "channel" | "conversation message"): Promise<number> {
  const row = await one<{ last: number }>(
    tx,
    sql`UPDATE numbers SET last = last + 1 WHERE name = ${name} RETURNING last`,
  );
  return row.last;
}
