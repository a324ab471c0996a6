import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { join, type Sql, sql } from "../../core/store/sql.ts";

/** How long a session lasts after it was last seen. */
export const SESSION_MS = 30 * 86_400_000;

/** True in SQL where the hash is a live session's or a live key's, or was within the last `graceMs`. */
export const isLiveCredential = (hash: Sql, graceMs = 0): Sql => sql`(
  EXISTS (SELECT 1 FROM sign_ins c WHERE c.hash = ${hash} AND c.seen_at > (SELECT parley_now()) - ${SESSION_MS + graceMs})
  OR EXISTS (SELECT 1 FROM keys c WHERE c.hash = ${hash} AND c.revoked_at IS NULL AND c.held_at IS NULL
    AND (c.expires_at IS NULL OR c.expires_at > (SELECT parley_now()) - ${graceMs})))`;

/** Returns those of the hashes that are no live key's and no live session's. */
export async function findEndedCredentials(on: Queryable, hashes: readonly string[]): Promise<string[]> {
  const rows = await on.all<{ hash: string }>(
    sql`SELECT hash FROM keys
      WHERE hash IN (${join([...hashes])}) AND revoked_at IS NULL AND held_at IS NULL
        AND (expires_at IS NULL OR expires_at > parley_now())
      UNION ALL SELECT hash FROM sign_ins
      WHERE hash IN (${join([...hashes])}) AND seen_at > (SELECT parley_now()) - ${SESSION_MS}`,
  );
  const live = new Set(rows.map(({ hash }) => hash));
  return hashes.filter((hash) => !live.has(hash));
}

/** Holds the session or key of this hash, which cannot end before the transaction does; false where it is not live. */
export async function lockCredential(tx: Tx, hash: string): Promise<boolean> {
  const held =
    (await first(tx, lockedRows(tx, "sign_ins", sql`hash = ${hash}`))) ??
    (await first(tx, lockedRows(tx, "keys", sql`hash = ${hash}`)));
  return held !== undefined && (await findEndedCredentials(tx, [hash])).length === 0;
}
