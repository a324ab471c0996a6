import { one, type Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** The counts of events in a span of time, on every server of the store. */
export interface Activity {
  created: number;
  responses: number;
  answered: number;
  expired: number;
  cancelled: number;
}

/** Counts what happened after `fromMs` and not after `toMs`; each count reads its span of one index. */
export async function countActivity(on: Queryable, fromMs: number, toMs: number): Promise<Activity> {
  const settled = (state: string) =>
    sql`(SELECT count(*) FROM questions WHERE state <> 'open' AND state = ${state} AND settled_at > ${fromMs} AND settled_at <= ${toMs})`;
  return one<Activity>(
    on,
    sql`SELECT
      (SELECT count(*) FROM questions WHERE created_at > ${fromMs} AND created_at <= ${toMs}) AS created,
      (SELECT count(*) FROM ledger WHERE at > ${fromMs} AND at <= ${toMs}) AS responses,
      ${settled("answered")} AS answered, ${settled("expired")} AS expired, ${settled("cancelled")} AS cancelled`,
  );
}

/** Counts the questions that are open now. */
export async function countOpen(on: Queryable): Promise<number> {
  const { open } = await one<{ open: number }>(on, sql`SELECT count(*) AS open FROM questions WHERE state = 'open'`);
  return open;
}

/** Returns how long the oldest open question has been waiting, in ms; 0 where none is open. */
export async function oldestOpenMs(on: Queryable): Promise<number> {
  const { ms } = await one<{ ms: number }>(
    on,
    sql`SELECT coalesce((SELECT parley_now()) - min(created_at), 0) AS ms FROM questions WHERE state = 'open'`,
  );
  return ms;
}
