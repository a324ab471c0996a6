import type { ListPosition } from "../../core/model/list-page.ts";
import { first, type Queryable } from "../../core/store/db.ts";
import { empty, sql } from "../../core/store/sql.ts";
import type { Request } from "../model/request.ts";
import { mayRead } from "./inbox.ts";
import { findRequests, requestRows } from "./requests.ts";

/** Returns one page of the function calls that were made within `sinceMs`, the oldest first. */
export async function listCallsSince(
  on: Queryable,
  { sinceMs, after, limit }: { sinceMs: number; after?: ListPosition; limit: number },
): Promise<Request[]> {
  return requestRows.all(
    on,
    sql`SELECT *, (SELECT parley_now()) AS now FROM requests
      WHERE kind = 'approval' AND created_at >= (SELECT parley_now()) - ${sinceMs}
        ${after === undefined ? empty : sql`AND (created_at, ask_id) > (${after.at}, ${after.id})`}
      ORDER BY created_at, ask_id LIMIT ${limit}`,
  );
}

/** Returns the newest function calls of an asker that were made within `sinceMs`, the newest first. */
export async function listCallsOf(
  on: Queryable,
  { asker, sinceMs, limit }: { asker: string; sinceMs: number; limit: number },
): Promise<Request[]> {
  return requestRows.all(
    on,
    sql`SELECT *, (SELECT parley_now()) AS now FROM requests
      WHERE asker = ${asker} AND kind = 'approval' AND created_at >= (SELECT parley_now()) - ${sinceMs}
      ORDER BY created_at DESC, ask_id DESC LIMIT ${limit}`,
  );
}

/** Most calls of a function may have been decided by rules: so many of the newest are looked at. */
const MOST_ANSWERED = 2000;

/**
 * Returns the newest calls of the asker of a request that people decided before the request ended, and that one of
 * `readers` may read; the newest decision first.
 */
export async function listCallsDecidedByPeople(
  on: Queryable,
  of: { before: Pick<Request, "id" | "asker" | "settledAt">; fn: string; readers: readonly string[]; limit: number },
): Promise<Request[]> {
  const { id, asker, settledAt } = of.before;
  const answered = sql`a.asker = ${asker} AND a.fn = ${of.fn} AND a.fn IS NOT NULL AND a.state = 'answered'
    ${settledAt === null ? empty : sql`AND a.settled_at <= ${settledAt}`}`;
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT a.ask_id FROM requests a
      WHERE ${answered} AND a.ask_id <> ${id} AND a.settled_at >= coalesce(
          (SELECT a.settled_at FROM requests a WHERE ${answered}
            ORDER BY a.settled_at DESC LIMIT 1 OFFSET ${MOST_ANSWERED - 1}), 0)
        AND a.outcome NOT LIKE '%"trace":{%' AND a.outcome NOT LIKE '%"by":{"kind":"agent"%' ${mayRead(of.readers)}
      ORDER BY a.settled_at DESC, a.ask_id DESC LIMIT ${of.limit}`,
  );
  const ids = rows.map(({ ask_id: one }) => one);
  return (await findRequests(on, ids)).toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
}

/** Returns the time that has only the `most` newest of the calls within `sinceMs`; `sinceMs` where there are no more. */
export async function ageOfNewest(
  on: Queryable,
  { sinceMs, most }: { sinceMs: number; most: number },
): Promise<number> {
  const row = await first<{ age: number }>(
    on,
    sql`SELECT (SELECT parley_now()) - created_at AS age FROM requests
      WHERE kind = 'approval' AND created_at >= (SELECT parley_now()) - ${sinceMs}
      ORDER BY created_at DESC, ask_id DESC LIMIT 1 OFFSET ${most}`,
  );
  return row ? row.age - 1 : sinceMs;
}
