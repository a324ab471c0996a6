import { checkRows, type Check } from "../../core/store/check.ts";
import type { Tx } from "../../core/store/db.ts";
import { join, type Sql, sql } from "../../core/store/sql.ts";
import { isLiveCredential } from "./credentials.ts";

/** A session that expires is written down as over by the next sweep; a day is more than that takes. */
const SURELY_SWEPT_MS = 86_400_000;

const endWhere = (tx: Tx, which: Sql) =>
  tx.all(
    sql`UPDATE push_subscriptions SET active = 0, updated_at = (SELECT parley_now()) WHERE active = 1 AND ${which}`,
  );

/** Ends what was subscribed to under these sessions or keys, which this transaction has ended. */
export async function endSubscriptionsUnder(tx: Tx, hashes: readonly string[]): Promise<void> {
  if (hashes.length > 0) await endWhere(tx, sql`credential IN (${join([...hashes])})`);
}

/** Ends every subscription to what the person is asked. */
export async function endSubscriptionsOf(tx: Tx, person: string): Promise<void> {
  await endWhere(tx, sql`person = ${person}`);
}

/** Ends what was subscribed to under sessions and keys that have expired. */
export async function endExpiredSubscriptions(tx: Tx): Promise<void> {
  await endWhere(tx, sql`credential IS NOT NULL AND NOT ${isLiveCredential(sql`push_subscriptions.credential`)}`);
}

export const ACCESS_CHECKS: readonly Check[] = [
  checkRows(
    "T8",
    "no active subscription to what a person is asked is without its live session or key",
    () => sql`SELECT s.subscription_id AS offender FROM push_subscriptions s
      WHERE s.active = 1 AND (s.credential IS NOT NULL OR s.person IN (SELECT person_id FROM people))
        AND NOT ${isLiveCredential(sql`s.credential`, SURELY_SWEPT_MS)}`,
  ),
];
