import type { Migration } from "./migration.ts";

const DAY_MS = 86_400_000;

/** Adds up every ledger. Both databases write the lists as `JSON.stringify` does. */
export const FILL_PERSON_TOTALS = `INSERT INTO person_totals (person, answers, points, by_category, longest_streak, early,
    night, speedy, confident, last_day, streak_days, rewarded_streaks, capped_day, capped_points, badges)
  SELECT l.person, count(*), sum(l.points),
    (SELECT '{' || string_agg('"' || c.category || '":' || CAST(c.answers AS TEXT), ',' ORDER BY c.category) || '}'
      FROM (SELECT category, count(*) AS answers FROM ledger k WHERE k.person = l.person GROUP BY category) AS c),
    max(l.streak_days), sum(l.early), sum(l.night), sum(l.speedy), sum(l.confident), max(l.day),
    (SELECT k.streak_days FROM ledger k WHERE k.person = l.person ORDER BY k.day DESC, k.at DESC LIMIT 1),
    (SELECT '[' || coalesce(string_agg(CAST(r.days AS TEXT), ',' ORDER BY r.days), '') || ']'
      FROM (SELECT DISTINCT k.streak_days AS days FROM ledger k
        WHERE k.person = l.person AND k.points > k.capped_points) AS r),
    max(l.at) - max(l.at) % ${DAY_MS},
    (SELECT sum(k.capped_points) FROM ledger k WHERE k.person = l.person
      AND k.at >= (SELECT max(m.at) - max(m.at) % ${DAY_MS} FROM ledger m WHERE m.person = l.person)),
    (SELECT '[' || coalesce(string_agg('"' || b.badge || '"', ',' ORDER BY b.badge), '') || ']'
      FROM badges b WHERE b.person = l.person)
  FROM ledger l GROUP BY l.person`;

/**
 * One row for each person with the totals of their ledger, so that an answer costs the same however many the person has
 * given. A new row has the totals of an empty ledger.
 */
export const personTotals: Migration = {
  number: 34,
  name: "totals of a person",
  statements: ({ integer, text, strict }) => [
    `CREATE TABLE person_totals (
       person ${text} PRIMARY KEY,
       answers ${integer} NOT NULL DEFAULT 0 CHECK (answers >= 0),
       points ${integer} NOT NULL DEFAULT 0 CHECK (points >= 0),
       by_category ${text} NOT NULL DEFAULT '{}',
       longest_streak ${integer} NOT NULL DEFAULT 0,
       early ${integer} NOT NULL DEFAULT 0,
       night ${integer} NOT NULL DEFAULT 0,
       speedy ${integer} NOT NULL DEFAULT 0,
       confident ${integer} NOT NULL DEFAULT 0,
       last_day ${text},
       streak_days ${integer} NOT NULL DEFAULT 0 CHECK ((streak_days = 0) = (last_day IS NULL)),
       rewarded_streaks ${text} NOT NULL DEFAULT '[]',
       capped_day ${integer} NOT NULL DEFAULT 0,
       capped_points ${integer} NOT NULL DEFAULT 0,
       badges ${text} NOT NULL DEFAULT '[]'
     )${strict}`,
    FILL_PERSON_TOTALS,
  ],
};
