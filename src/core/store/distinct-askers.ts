import type { Queryable } from "./db.ts";
import { raw, sql } from "./sql.ts";

/** Attempts of tasks ask under names of their own, as many as there are: the tasks' pages have them. */
const ATTEMPTS = { from: "attempt:", before: "attempt;" };

/**
 * Returns up to `limit` principals that ever asked something that a table holds, by name, after `after`. It goes from
 * name to name by the index of askers, so that its cost is that of the names and not of the rows.
 */
export async function listDistinctAskers(
  on: Queryable,
  table: "requests" | "questions",
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const { from, before } = ATTEMPTS;
  const start = after >= from && after < before ? before : after;
  const rows = await on.all<{ asker: string }>(
    sql`WITH RECURSIVE names (asker) AS (
        SELECT min(r.asker) FROM ${raw(table)} r WHERE r.asker > ${start}
        UNION ALL
        SELECT (SELECT min(r.asker) FROM ${raw(table)} r WHERE r.asker > CASE
            WHEN names.asker >= ${from} AND names.asker < ${before} THEN ${before} ELSE names.asker END)
        FROM names WHERE names.asker IS NOT NULL
      )
      SELECT asker FROM names WHERE asker IS NOT NULL AND NOT (asker >= ${from} AND asker < ${before}) LIMIT ${limit}`,
  );
  return rows.map(({ asker }) => asker);
}
