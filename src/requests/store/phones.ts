import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

type PhoneKind = "sms" | "whatsapp";

/** Keeps whether the person at a number wants messages. */
export async function setOptedOut(tx: Tx, kind: PhoneKind, number: string, optedOut: boolean): Promise<void> {
  await tx.all(
    sql`INSERT INTO phones (kind, number, opted_out) VALUES (${kind}, ${number}, ${optedOut ? 1 : 0})
      ON CONFLICT (kind, number) DO UPDATE SET opted_out = excluded.opted_out`,
  );
}

/** Keeps that the person at a number has written now. */
export async function notePhoneContact(tx: Tx, kind: PhoneKind, number: string): Promise<void> {
  await tx.all(
    sql`INSERT INTO phones (kind, number, opted_out, heard_at) VALUES (${kind}, ${number}, 0, parley_now())
      ON CONFLICT (kind, number) DO UPDATE SET heard_at = excluded.heard_at`,
  );
}

/** Deletes what is known of these numbers. */
export async function forgetPhones(tx: Tx, numbers: readonly string[]): Promise<void> {
  if (numbers.length > 0) await tx.all(sql`DELETE FROM phones WHERE number IN (${join([...numbers])})`);
}

/** Returns what is known of a number, with the store's clock. */
export async function findPhone(
  on: Queryable,
  kind: PhoneKind,
  number: string,
): Promise<{ optedOut: boolean; lastMessageAt: number | null; now: number } | undefined> {
  const row = await first<{ opted_out: number; heard_at: number | null; now: number }>(
    on,
    sql`SELECT opted_out, heard_at, parley_now() AS now FROM phones WHERE kind = ${kind} AND number = ${number}`,
  );
  return row && { optedOut: row.opted_out === 1, lastMessageAt: row.heard_at, now: row.now };
}
