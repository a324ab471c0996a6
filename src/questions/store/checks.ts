import { checkRows, type Check } from "../../core/store/check.ts";
import { raw, type Sql, sql } from "../../core/store/sql.ts";
import { isFrozen } from "../../policy/store/freezes.ts";
import { examineLedger } from "./ledger-checks.ts";
import { ledgersWithoutScore, scoresThatDiffer } from "./score-checks.ts";
import { SHOWN_EVENTS, SHOWN_KEYED_CALLS } from "../../core/store/tables.ts";

const QUICK_ROWS = 10_000;
/** Events and keys are kept for 24 hours; what is younger than this by far must be there. */
const SURELY_KEPT_MS = 23 * 3_600_000;

/** The questions a check looks at: all, or the open ones and the newest. */
function scope(quick: boolean): Sql {
  if (!quick) return sql`1 = 1`;
  return sql`a.ask_id IN (SELECT ask_id FROM questions WHERE state = 'open'
    UNION ALL SELECT ask_id FROM (SELECT ask_id FROM questions ORDER BY created_at DESC LIMIT ${QUICK_ROWS}) AS newest)`;
}

function onAsks(check: string, promise: string, broken: Sql): Check {
  return checkRows(
    check,
    promise,
    (quick) => sql`SELECT a.ask_id AS offender FROM questions a WHERE ${scope(quick)} AND (${broken})`,
  );
}

/** Counts the events once: looking them up for each question would cost the square of what one agent asked. */
function asksWithoutEvents(events: Sql, asks: Sql): Sql {
  return sql`SELECT a.ask_id AS offender FROM questions a
    LEFT JOIN (SELECT stream, ask_id, count(DISTINCT version) AS changes, max(version) AS newest
      FROM ${events} AS kept GROUP BY stream, ask_id) AS e ON e.ask_id = a.ask_id AND e.stream = 'asker:' || a.asker
    WHERE ${asks} AND (a.version <> coalesce(e.changes, 0) OR a.version <> e.newest)`;
}

const responsesOf = sql`SELECT count(*) FROM responses r WHERE r.ask_id = a.ask_id`;

/** The second in which a question was made; the thousandths of `created_at` are its place among those of that second. */
const ASKED_IN = sql`a.created_at - a.created_at % 1000`;
const CHANGED_LATELY = sql`a.created_at > (SELECT parley_now()) - ${SURELY_KEPT_MS}`;

const NEWEST_EVENTS = sql`(SELECT stream, ask_id, version, at FROM ${SHOWN_EVENTS} e ORDER BY at DESC LIMIT ${QUICK_ROWS})`;
const OLDEST_OF_THEM = sql`(SELECT coalesce(min(at), 0) FROM ${NEWEST_EVENTS} AS newest)`;

/** Of questions that are younger than the oldest of the newest events, all events are among those; unless the clock went back. */
const NEWEST_ASKS_WITHOUT_EVENTS = asksWithoutEvents(
  NEWEST_EVENTS,
  sql`${CHANGED_LATELY} AND a.created_at > ${OLDEST_OF_THEM}
    AND coalesce(a.last_answer_at, a.created_at) > ${OLDEST_OF_THEM}
    AND coalesce(a.settled_at, a.created_at) > ${OLDEST_OF_THEM}`,
);

const ASKS_WITHOUT_EVENTS = asksWithoutEvents(SHOWN_EVENTS, CHANGED_LATELY);

const SCORES_OF_NEWEST = 200;
const NEWEST_ENTRIES = sql`(SELECT person, at FROM ledger ORDER BY at DESC LIMIT ${SCORES_OF_NEWEST})`;

/** The invariants of questions, of their events, and of the points and badges that people earned by them. */
export const QUESTION_CHECKS: readonly Check[] = [
  onAsks(
    "A1, A2",
    "a settled ask has exactly one outcome, an open one none, and the two agree",
    sql`NOT EXISTS (SELECT 1 FROM outcomes s WHERE s.ask_id = a.ask_id AND s.status = a.state) AND a.state <> 'open'
      OR a.state = 'open' AND EXISTS (SELECT 1 FROM outcomes s WHERE s.ask_id = a.ask_id)`,
  ),
  onAsks(
    "A3",
    "an ask counts the responses it has, never more than it needs, and is answered exactly when it has them all",
    sql`a.n > a.need OR a.n <> (${responsesOf}) OR (a.n = a.need) <> (a.state = 'answered')`,
  ),
  onAsks(
    "A3",
    "the responses to an ask are numbered from 1 without a gap",
    sql`a.n > 0 AND (SELECT count(*) FROM responses r WHERE r.ask_id = a.ask_id AND r.ord BETWEEN 1 AND a.n) <> a.n`,
  ),
  onAsks(
    "A3",
    "every chosen option is one of the ask's, and a text is answered by a text",
    sql`EXISTS (SELECT 1 FROM responses r WHERE r.ask_id = a.ask_id AND (a.kind = 'choice') <> (r.selected_option IS NOT NULL))`,
  ),
  onAsks(
    "A5",
    "every response came before the deadline and before the end",
    sql`EXISTS (SELECT 1 FROM responses r WHERE r.ask_id = a.ask_id
      AND (r.at >= a.expires_at AND NOT (a.state = 'open' AND ${isFrozen(raw("a.asker"))}) OR r.at > coalesce(a.settled_at, r.at) OR r.at < ${ASKED_IN}))`,
  ),
  onAsks(
    "A1",
    "an ask has one version for its creation, one for each response and one for an end without the last of them",
    sql`a.version <> 1 + a.n + CASE WHEN a.state IN ('expired', 'cancelled') THEN 1 ELSE 0 END`,
  ),
  onAsks(
    "A1",
    "an ask ended when its last answer came, at its deadline, or before that by cancelling",
    sql`a.state = 'answered' AND a.settled_at <> coalesce(a.last_answer_at, 0)
      OR a.state = 'expired' AND a.settled_at <> a.expires_at
      OR a.state = 'cancelled' AND (a.settled_at >= a.expires_at OR a.settled_at < ${ASKED_IN})`,
  ),
  checkRows(
    "T1",
    "no ask is open more than two seconds past its deadline",
    () =>
      sql`SELECT ask_id AS offender FROM questions WHERE state = 'open' AND expires_at < (SELECT parley_now()) - 2000
          AND NOT ${isFrozen(raw("asker"))}`,
  ),
  checkRows("S3", "every change of an ask of the last 23 hours has exactly one event", (quick) =>
    quick ? NEWEST_ASKS_WITHOUT_EVENTS : ASKS_WITHOUT_EVENTS,
  ),
  checkRows(
    "S3",
    "every event of the last 23 hours tells of an ask that exists",
    (quick) => sql`SELECT e.stream || ' ' || e.seq AS offender
      FROM ${quick ? sql`(SELECT * FROM ${SHOWN_EVENTS} e ORDER BY at DESC LIMIT ${QUICK_ROWS})` : SHOWN_EVENTS} AS e
      LEFT JOIN questions a ON a.ask_id = e.ask_id
      WHERE e.at > (SELECT parley_now()) - ${SURELY_KEPT_MS} AND (a.ask_id IS NULL OR e.stream <> 'asker:' || a.asker)`,
  ),
  checkRows(
    "I1",
    "a live idempotency key stands for an object that exists, or keeps the reply it had",
    (quick) => sql`SELECT i.principal || ' ' || i.verb || ' ' || i.object_id AS offender
      FROM ${quick ? sql`(SELECT * FROM ${SHOWN_KEYED_CALLS} i ORDER BY expires_at DESC LIMIT ${QUICK_ROWS})` : SHOWN_KEYED_CALLS} AS i
      WHERE i.expires_at > (SELECT parley_now()) AND (i.verb = 'answer' AND i.reply IS NULL
        OR i.verb = 'ask' AND NOT EXISTS (SELECT 1 FROM questions a WHERE a.ask_id = i.object_id))`,
  ),
  onAsks(
    "A13",
    "every response of somebody who is still known has its ledger row",
    sql`EXISTS (SELECT 1 FROM responses r WHERE r.ask_id = a.ask_id AND substr(r.person, 1, 5) <> 'gone_'
        AND NOT EXISTS (SELECT 1 FROM ledger l WHERE l.person = r.person AND l.ask_id = r.ask_id AND l.at = r.at))`,
  ),
  checkRows(
    "A13",
    "every ledger row of an ask that is kept stands for a response",
    (quick) => sql`SELECT l.person || ' ' || l.ask_id AS offender
      FROM ${quick ? sql`(SELECT * FROM ledger ORDER BY at DESC LIMIT ${QUICK_ROWS})` : sql`ledger`} AS l
      JOIN questions a ON a.ask_id = l.ask_id
      WHERE NOT EXISTS (SELECT 1 FROM responses r WHERE r.ask_id = l.ask_id AND r.person = l.person)`,
  ),
  checkRows("A13", "every standing is what the ledger adds up to in its period", (quick) =>
    scoresThatDiffer(quick ? sql`SELECT person FROM ${NEWEST_ENTRIES} AS newest` : null),
  ),
  checkRows("A13", "whoever has a ledger has a standing", (quick) =>
    ledgersWithoutScore(quick ? NEWEST_ENTRIES : sql`ledger`),
  ),
  {
    check: "A13",
    promise: "points, streaks, badges and the totals of a person are what the ledger adds up to",
    look: examineLedger,
  },
];
