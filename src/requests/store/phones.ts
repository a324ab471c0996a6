import type { PhoneChannel } from "../../channels/kinds.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";
import { numberForms } from "../../lib/phone-number.ts";

/** Keeps whether the person at a number, in any of its forms, wants messages. */
export async function setOptedOut(tx: Tx, kind: PhoneChannel, number: string, optedOut: boolean): Promise<void> {
  for (const form of numberForms(number)) {
    await tx.all(
      sql`INSERT INTO phones (kind, number, opted_out) VALUES (${kind}, ${form}, ${optedOut ? 1 : 0})
        ON CONFLICT (kind, number) DO UPDATE SET opted_out = excluded.opted_out`,
    );
  }
}

/** Keeps that the person at a number has written now. */
export async function notePhoneContact(tx: Tx, kind: PhoneChannel, number: string): Promise<void> {
  await tx.all(
    sql`INSERT INTO phones (kind, number, opted_out, heard_at) VALUES (${kind}, ${number}, 0, parley_now())
      ON CONFLICT (kind, number) DO UPDATE SET heard_at = excluded.heard_at`,
  );
}

/** Deletes what is known of these numbers. */
export async function forgetPhones(tx: Tx, numbers: readonly string[]): Promise<void> {
  const forms = numbers.flatMap(numberForms);
  if (forms.length > 0) await tx.all(sql`DELETE FROM phones WHERE number IN (${join(forms)})`);
}

/** Returns what is known of a number in any of its forms, with the store's clock. */
export async function findPhone(
  on: Queryable,
  kind: PhoneChannel,
  number: string,
): Promise<{ optedOut: boolean; lastMessageAt: number | null; now: number } | undefined> {
  const row = await first<{ opted_out: number | null; heard_at: number | null; now: number }>(
    on,
    sql`SELECT max(opted_out) AS opted_out, max(heard_at) AS heard_at, parley_now() AS now FROM phones
      WHERE kind = ${kind} AND number IN (${join(numberForms(number))})`,
  );
  return row && { optedOut: row.opted_out === 1, lastMessageAt: row.heard_at, now: row.now };
}
