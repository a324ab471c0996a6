import type { Queryable } from "../../core/store/db.ts";
import { SESSION_MS } from "./sign-ins.ts";
import { join, sql } from "../../core/store/sql.ts";

/** Returns those of the hashes that are no live key's and no live session's. */
export async function findEndedCredentials(on: Queryable, hashes: readonly string[]): Promise<string[]> {
  const rows = await on.all<{ hash: string }>(
    sql`SELECT hash FROM keys
      WHERE hash IN (${join([...hashes])}) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > parley_now())
      UNION ALL SELECT hash FROM sign_ins
      WHERE hash IN (${join([...hashes])}) AND seen_at > (SELECT parley_now()) - ${SESSION_MS}`,
  );
  const live = new Set(rows.map(({ hash }) => hash));
  return hashes.filter((hash) => !live.has(hash));
}
