import type { Queryable } from "../../core/store/db.ts";
import { empty, raw, sql } from "../../core/store/sql.ts";
import { frozenFlag } from "../../policy/store/freezes.ts";
import { toRequestsAt, type RequestAt, type RequestRow } from "./requests.ts";

/** Returns the newest prompt of a coding agent: of anybody, of one asker, or of one conversation. */
export async function findNewestPrompt(
  on: Queryable,
  { promptOf, asker, conversation }: { promptOf: string; asker?: string; conversation?: number },
): Promise<RequestAt | undefined> {
  const own = asker === undefined ? empty : sql`AND asker = ${asker}`;
  const within = conversation === undefined ? empty : sql`AND conversation = ${conversation}`;
  const rows = await on.all<RequestRow>(
    sql`SELECT *, (SELECT parley_now()) AS now, ${frozenFlag(raw("asker"))} FROM requests WHERE prompt_of = ${promptOf} ${own} ${within}
      ORDER BY created_at DESC, ask_id DESC LIMIT 1`,
  );
  return (await toRequestsAt(rows))[0];
}
