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

/** The prompts of a coding agent that one asker sent, or that stand in one conversation of it. */
export interface PromptsOf {
  promptOf: string;
  asker: string;
  conversation?: number;
}

/** So many of the newest prompts are looked through for one that has ended. */
const MOST_BEHIND = 200;

/** Returns the newest approved prompts for a tool whose promised end is still not known, the newest first. */
export async function findAwaitedPrompts(
  on: Queryable,
  { promptOf, asker, conversation, tool }: PromptsOf & { tool: string },
): Promise<RequestAt[]> {
  const within = conversation === undefined ? empty : sql`AND conversation = ${conversation}`;
  const rows = await on.all<RequestRow>(
    sql`SELECT *, (SELECT parley_now()) AS now FROM requests
      WHERE ask_id IN (
        SELECT newest.ask_id FROM (
          SELECT ask_id FROM requests WHERE asker = ${asker} AND prompt_of = ${promptOf}
            ORDER BY created_at DESC, ask_id DESC LIMIT ${MOST_BEHIND}
        ) AS newest JOIN call_outcomes ON call_outcomes.ask_id = newest.ask_id
        WHERE call_outcomes.state IN ('awaited', 'unknown')
      ) AND title = ${tool} ${within}
      ORDER BY created_at DESC, ask_id DESC`,
  );
  return toRequestsAt(rows);
}
