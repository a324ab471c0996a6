import type { Queryable } from "../../core/store/db.ts";
import { empty, sql } from "../../core/store/sql.ts";
import { toRequestsAt, type RequestAt, type RequestRow } from "./requests.ts";

/**
 * Returns the newest request whose `ref` begins in one of these ways: of anybody, of one asker, or of one conversation.
 * It looks asker by asker, from the newest backwards, and passes over those that have no such `ref`.
 */
export async function findNewest(
  on: Queryable,
  { refStarts, asker, conversation }: { refStarts: readonly string[]; asker?: string; conversation?: number },
): Promise<RequestAt | undefined> {
  const anyOf = (each: readonly ReturnType<typeof sql>[]) => each.reduce((all, one) => sql`${all} OR ${one}`);
  // A range takes the index of refs, as LIKE does not on both databases.
  const ranges = refStarts.map((start) => sql`(r.ref >= ${start} AND r.ref < ${`${start}\u{10FFFF}`})`);
  const each = ranges.map((range) => sql`EXISTS (SELECT 1 FROM requests r WHERE r.asker = a.asker AND ${range})`);
  const within = conversation === undefined ? empty : sql`AND r.conversation = ${conversation}`;
  const next = sql`SELECT (SELECT min(r.asker) FROM requests r WHERE r.asker > a.asker) FROM askers a
    WHERE a.asker IS NOT NULL`;
  const askers =
    asker === undefined ? sql`SELECT min(asker) FROM requests UNION ALL ${next}` : sql`SELECT ${asker} AS asker`;
  const rows = await on.all<RequestRow>(
    sql`WITH RECURSIVE askers (asker) AS (${askers})
      SELECT *, (SELECT parley_now()) AS now FROM requests WHERE ask_id IN (
        SELECT (SELECT r.ask_id FROM requests r WHERE r.asker = a.asker AND (${anyOf(ranges)}) ${within}
          ORDER BY r.created_at DESC, r.ask_id DESC LIMIT 1)
        FROM askers a WHERE ${anyOf(each)})
      ORDER BY created_at DESC, ask_id DESC LIMIT 1`,
  );
  return (await toRequestsAt(rows))[0];
}
