import { sql, type Sql } from "../../core/store/sql.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The first of January 1970 was a Thursday. */
const MONDAY_TO_THURSDAY_MS = 3 * DAY_MS;
const FOR_EVER = Number.MAX_SAFE_INTEGER;

const dayOf = (at: Sql) => sql`${at} - ${at} % ${DAY_MS}`;
const weekOf = (at: Sql) => sql`${at} - (${at} + ${MONDAY_TO_THURSDAY_MS}) % ${WEEK_MS}`;

/** Returns the scores that differ from the sum of their person's ledger, among those of `people` if it is given. */
export function scoresThatDiffer(people: Sql | null): Sql {
  const within = sql`l.person = s.person AND l.at >= s.from_at
    AND l.at < CASE s.period WHEN 'daily' THEN s.from_at + ${DAY_MS} WHEN 'weekly' THEN s.from_at + ${WEEK_MS} ELSE ${FOR_EVER} END`;
  return sql`SELECT s.person || ' ' || s.period AS offender FROM scores s
    WHERE ${people ? sql`s.person IN (${people})` : sql`1 = 1`}
      AND (s.answers <> (SELECT count(*) FROM ledger l WHERE ${within})
        OR s.points <> (SELECT coalesce(sum(l.points), 0) FROM ledger l WHERE ${within})
        OR coalesce(s.reached_at, 0) <> (SELECT coalesce(max(l.at), 0) FROM ledger l WHERE ${within} AND l.points > 0))`;
}

/** Returns the people whose ledger has no score; days and weeks that are over need no score. */
export function ledgersWithoutScore(entries: Sql): Sql {
  const [at, now] = [sql`l.at`, sql`(SELECT parley_now())`];
  const without = (period: string, from: Sql) => sql`NOT EXISTS (SELECT 1 FROM scores s
    WHERE s.person = l.person AND s.period = ${period} AND s.from_at = ${from})`;
  return sql`SELECT DISTINCT l.person AS offender FROM ${entries} AS l
    WHERE ${without("all_time", sql`0`)} OR l.at >= ${dayOf(now)} AND ${without("daily", dayOf(at))}
      OR l.at >= ${weekOf(now)} AND ${without("weekly", weekOf(at))}`;
}
