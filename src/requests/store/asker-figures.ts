import { first, type Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";
import type { CountedRequest } from "../model/asker-figures.ts";

/** Returns when an agent asked last, and how many of its requests wait. */
export async function findAskerNow(on: Queryable, asker: string): Promise<{ askedAt: number | null; waiting: number }> {
  const row = await first<{ asked_at: number | null; waiting: number }>(
    on,
    sql`SELECT (SELECT max(created_at) FROM requests WHERE asker = ${asker}) AS asked_at,
      (SELECT count(*) FROM requests WHERE asker = ${asker} AND state = 'open' AND plan IS NULL) AS waiting`,
  );
  return { askedAt: row?.asked_at ?? null, waiting: row?.waiting ?? 0 };
}

/** Returns the newest `limit` requests of an agent, without calls of plans. */
export async function listCounted(on: Queryable, asker: string, limit: number): Promise<CountedRequest[]> {
  const rows = await on.all<{
    state: CountedRequest["state"];
    kind: string;
    outcome: string | null;
    wait: number | null;
  }>(
    sql`SELECT state, kind, CASE WHEN outcome LIKE '%"approved":true%' THEN 'yes'
        WHEN outcome LIKE '%"approved":false%' THEN 'no' END AS outcome, settled_at - created_at AS wait
      FROM requests WHERE asker = ${asker} AND plan IS NULL ORDER BY created_at DESC, ask_id DESC LIMIT ${limit}`,
  );
  return rows.map(({ state, kind, outcome, wait }) => ({
    state,
    approved: kind !== "approval" || state !== "answered" || outcome === null ? null : outcome === "yes",
    waitMs: wait,
  }));
}
