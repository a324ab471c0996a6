import type { Migration } from "./migration.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The first of January 1970 was a Thursday. */
const MONDAY_TO_THURSDAY_MS = 3 * DAY_MS;

/**
 * The totals of everybody's ledger in each period, kept with the ledger. Adding it all up for each look at a
 * leaderboard, or at one's own rank, took seconds at a million answers.
 */
export const standings: Migration = {
  number: 20,
  name: "standings",
  statements: ({ integer, text, strict }) => {
    const today = `parley_now() - parley_now() % ${DAY_MS}`;
    const monday = `parley_now() - (parley_now() + ${MONDAY_TO_THURSDAY_MS}) % ${WEEK_MS}`;
    const addUp = (period: string, from: string) =>
      `INSERT INTO standings (period, from_at, person, points, answers, reached_at)
         SELECT '${period}', ${from}, person, sum(points), count(*), max(CASE WHEN points > 0 THEN at END)
         FROM ledger WHERE at >= ${from} GROUP BY person`;
    return [
      `CREATE TABLE standings (
         period ${text} NOT NULL CHECK (period IN ('daily', 'weekly', 'all_time')),
         from_at ${integer} NOT NULL,
         person ${text} NOT NULL,
         points ${integer} NOT NULL CHECK (points >= 0),
         answers ${integer} NOT NULL CHECK (answers >= 1),
         reached_at ${integer} CHECK ((reached_at IS NULL) = (points = 0)),
         PRIMARY KEY (person, period, from_at)
       )${strict}`,
      addUp("all_time", "0"),
      addUp("weekly", monday),
      addUp("daily", today),
      `CREATE INDEX standings_best ON standings (period, from_at, points DESC, reached_at, person)`,
      `DROP INDEX ledger_standings`,
      `CREATE INDEX ledger_at ON ledger (at)`,
    ];
  },
};
