import type { ListPosition } from "../../core/model/list-page.ts";
import { first, type Queryable } from "../../core/store/db.ts";
import { empty, sql } from "../../core/store/sql.ts";
import type { Request } from "../model/request.ts";
import { requestRows } from "./requests.ts";

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
