import { NO_DEADLINE, type Request } from "../model/request.ts";
import { askerName } from "../model/view.ts";
import { ALL_READERS } from "../model/audience.ts";
import type { InboxDue, InboxFilter, InboxGroup, InboxOrder, InboxPosition } from "../model/inbox.ts";
import { toRequestsAt, type RequestAt, type RequestRow } from "./requests.ts";
import { one, storeNow, type Queryable } from "../../core/store/db.ts";
import { empty, join, raw, sql, type Sql } from "../../core/store/sql.ts";
import { frozenFlag, hasTime } from "../../policy/store/freezes.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { noteMark } from "./agent-notes.ts";
import { handOnMark, isHandedOnBy, isHandedTo } from "./hand-ons.ts";
import { isSnoozedFor, snoozesFor } from "./snoozes.ts";
import { hasReader } from "./tables.ts";

const SOON_MS = 3_600_000;
const TODAY_MS = 86_400_000;

/** The filter of an inbox; with `askers`, only their requests, and with `fn`, only calls of that function. */
export type InboxQuery = Omit<InboxFilter, "agent"> & {
  askers?: readonly string[];
  fn?: string;
  /** Only what somebody has handed to the person, or none of it. */
  handed?: boolean;
  /** The requests of people for whom the person stands in, which count as handed to them. */
  stoodInFor?: readonly RequestId[];
};

/**
 * Returns one page of the requests somebody reads as one of `readers`: those that wait, soonest deadline first or in
 * the order of asking, or those that are over, newest first. A page goes on behind a place and not behind a number of rows, so that nothing is skipped or
 * comes twice when requests end while somebody pages.
 */
export async function listInbox(
  on: Queryable,
  readers: readonly string[],
  filter: InboxQuery & { order?: InboxOrder },
  page: { after?: InboxPosition; limit: number },
): Promise<RequestAt[]> {
  const { after, limit } = page;
  const where = sql`${isIn(filter.state)} ${mayRead(readers)} ${isWanted(filter)}
    ${filter.state === "open" ? sql`${isAside(readers, filter.snoozed ?? false)} ${isUnpressed(readers)}` : empty}
    ${isHanded(readers, filter)}`;
  const by = filter.order === "asked" ? sql`a.created_at` : sql`a.expires_at`;
  const rows =
    filter.state === "open"
      ? await on.all<RequestRow>(
          sql`SELECT a.*, (SELECT parley_now()) AS now, ${frozenFlag(raw("a.asker"))} FROM requests a WHERE ${where}
              ${after ? sql`AND (${by}, a.created_at, a.ask_id) > (${after.at}, ${after.createdAt}, ${after.id})` : empty}
            ORDER BY ${by}, a.created_at, a.ask_id LIMIT ${limit}`,
        )
      : await on.all<RequestRow>(
          sql`SELECT a.*, (SELECT parley_now()) AS now, ${frozenFlag(raw("a.asker"))} FROM requests a WHERE ${where}
              ${after ? sql`AND (a.settled_at, a.ask_id) < (${after.at}, ${after.id})` : empty}
            ORDER BY a.settled_at DESC, a.ask_id DESC LIMIT ${limit}`,
        );
  return toRequestsAt(rows);
}

/**
 * Returns how many open requests of each sort somebody reads as one of `readers`, and when that was, by the store's
 * clock. Requests that are over are not counted: their number has no limit, and counting fifty thousand would delay
 * everybody by a tenth of a second.
 */
export async function countInbox(
  on: Queryable,
  readers: readonly string[],
): Promise<{ groups: InboxGroup[]; at: number }> {
  const at = await storeNow(on);
  const due = sql`CASE WHEN a.expires_at >= ${NO_DEADLINE} THEN 'none' WHEN a.expires_at <= ${at + SOON_MS} THEN 'soon'
    WHEN a.expires_at <= ${at + TODAY_MS} THEN 'today' ELSE 'later' END`;
  const aside = sql`CASE WHEN ${isPutAside(readers)} THEN 1 ELSE 0 END`;
  // All requests of one attempt name the same agent.
  const rows = await on.all<Omit<InboxGroup, "agent" | "isSnoozed"> & { aside: number; wire: string }>(
    sql`SELECT a.kind, a.asker, ${due} AS due, ${aside} AS aside, count(*) AS count,
        max(a.created_at) AS "newestAt", max(a.wire) AS wire
      FROM requests a WHERE ${isIn("open")} ${mayRead(readers)} ${isUnpressed(readers)} GROUP BY 1, 2, 3, 4`,
  );
  const agentOf = (asker: string, wire: string) => askerName({ asker, wire: JSON.parse(wire) as Request["wire"] });
  const groups = rows.map(({ wire, aside: isAside, ...group }) => {
    return { ...group, isSnoozed: isAside === 1, agent: agentOf(group.asker, wire) };
  });
  return { groups, at };
}

/** Returns how many calls of each agent and function wait, without those put aside; with `askers`, only those of these agents. */
export async function countAlike(
  on: Queryable,
  readers: readonly string[],
  askers?: readonly string[],
): Promise<{ asker: string; fn: string; count: number }[]> {
  return on.all(
    sql`SELECT a.asker, a.fn, count(*) AS count FROM requests a
      WHERE ${isIn("open")} ${mayRead(readers)} ${isAside(readers)} ${isUnpressed(readers)} AND a.fn IS NOT NULL
        ${isWanted({ state: "open", askers })}
      GROUP BY a.asker, a.fn`,
  );
}

/** Returns the agents whose requests wait for somebody. */
export async function listAskers(on: Queryable, readers: readonly string[]): Promise<string[]> {
  const rows = await on.all<{ asker: string }>(
    sql`SELECT DISTINCT a.asker FROM requests a WHERE ${isIn("open")} ${mayRead(readers)} ORDER BY a.asker`,
  );
  return rows.map(({ asker }) => asker);
}

/**
 * Returns the ids of up to `limit` open requests that somebody reads, soonest deadline first, each with a text that is
 * another one once it has changed, was put aside or handed on, has come back, or a note went from it to its agent.
 */
export async function listInboxVersions(
  on: Queryable,
  readers: readonly string[],
  limit: number,
): Promise<[id: string, version: string][]> {
  const rows = await on.all<{ ask_id: string; version: number; aside: number; handed: number; noted: number }>(
    sql`SELECT a.ask_id, a.version, ${asideUntil(readers)} AS aside, ${handOnMark(sql`a.ask_id`)} AS handed,
        ${noteMark(sql`a.ask_id`)} AS noted FROM requests a
      WHERE ${isIn("open")} ${mayRead(readers)} ORDER BY a.expires_at, a.created_at, a.ask_id LIMIT ${limit}`,
  );
  return rows.map(({ ask_id: id, version, ...marks }) => [
    id,
    `${version} ${marks.aside} ${marks.handed} ${marks.noted}`,
  ]);
}

/**
 * Returns a text that is another one when any of the open requests behind the first `skipped` has come, changed or gone,
 * was put aside or handed on, or has come back: how many there are, with the sums of their versions and of their times.
 */
export async function markOfInboxBehind(on: Queryable, readers: readonly string[], skipped: number): Promise<string> {
  const { mark } = await one<{ mark: string }>(
    on,
    sql`SELECT count(*) || ' ' || coalesce(sum(version), 0) || ' ' || coalesce(sum(created_at), 0)
        || ' ' || coalesce(sum(aside), 0) || ' ' || coalesce(sum(handed), 0) AS mark FROM (
      SELECT a.version, a.created_at, ${asideUntil(readers)} AS aside, ${handOnMark(sql`a.ask_id`)} AS handed FROM requests a
      WHERE ${isIn("open")} ${mayRead(readers)}
      ORDER BY a.expires_at, a.created_at, a.ask_id LIMIT ${Number.MAX_SAFE_INTEGER} OFFSET ${skipped}) AS behind`,
  );
  return mark;
}

/** So many of the newest outcomes are looked at; PostgreSQL, which cannot guess how many are new, would read all requests. */
const MOST_NEW_OUTCOMES = 1000;

/**
 * Returns the requests that somebody reads whose calls have another outcome within the last `withinMs`, each with a text
 * that is another one once an outcome has changed again. A plan stands there for its calls.
 */
export async function listOutcomeVersions(
  on: Queryable,
  readers: readonly string[],
  withinMs: number,
): Promise<[id: string, version: string][]> {
  const rows = await on.all<{ ask_id: string; times: number | string; states: number }>(
    sql`SELECT a.ask_id, sum(c.at) AS times, sum(length(c.state)) AS states
      FROM (SELECT ask_id, at, state FROM call_outcomes WHERE at > (SELECT parley_now()) - ${withinMs}
        ORDER BY at DESC LIMIT ${MOST_NEW_OUTCOMES}) c
      JOIN requests b ON b.ask_id = c.ask_id JOIN requests a ON a.ask_id = coalesce(b.plan, b.ask_id)
      WHERE 1 = 1 ${mayRead(readers)} GROUP BY a.ask_id`,
  );
  return rows.map(({ ask_id: id, times, states }) => [id, `${times} ${states}`]);
}

function isIn(state: InboxFilter["state"]): Sql {
  return state === "open"
    ? sql`a.state = 'open' AND ${hasTime(sql`a.expires_at`, sql`a.asker`)}`
    : sql`a.state <> 'open'`;
}

/** A condition of SQL on the request `a`: it is in the inbox of one of `readers`. A call of a plan is in none. */
export function mayRead(readers: readonly string[]): Sql {
  if (readers.includes(ALL_READERS)) return sql`AND a.plan IS NULL`;
  return sql`AND a.plan IS NULL AND ${hasReader(sql`a.ask_id`, readers)}`;
}

/** True in SQL of what the person among these readers has put aside, or else of all that they have not. */
function isAside(readers: readonly string[], isSnoozed = false): Sql {
  return sql`AND ${isSnoozed ? empty : sql`NOT`} ${isPutAside(readers)}`;
}

/** True in SQL where the person among these readers has put the request aside or handed it on. */
function isPutAside(readers: readonly string[]): Sql {
  return sql`(${isSnoozedFor(sql`a.ask_id`, readers)} OR ${isHandedOnBy(sql`a.ask_id`, readers)})`;
}

function isHanded(readers: readonly string[], { handed, stoodInFor = [] }: InboxQuery): Sql {
  if (handed === undefined) return empty;
  const stoodIn = stoodInFor.length === 0 ? empty : sql`OR a.ask_id IN (${join([...stoodInFor])})`;
  return sql`AND ${handed ? empty : sql`NOT`} (${isHandedTo(sql`a.ask_id`, readers)} ${stoodIn})`;
}

/** A condition of SQL on the open request `a`: the person among these readers has not pressed a decision on it. */
function isUnpressed(readers: readonly string[]): Sql {
  const each = readers.map((reader) => sql`a.presses LIKE ${`%"person":${JSON.stringify(reader)},%`}`);
  return sql`AND NOT (a.press_due_at IS NOT NULL AND (${join(each, " OR ")}))`;
}

/** In SQL, until when the person among these readers has put the request aside; 0 where they have not. */
function asideUntil(readers: readonly string[]): Sql {
  return sql`coalesce((SELECT max(s.until) FROM ${snoozesFor(sql`a.ask_id`, readers)}), 0)`;
}

function isWanted({ kind, due, askers, fn, state }: InboxQuery): Sql {
  // SQLite would look for an open request in the index of all that its agent ever asked.
  const asker = state === "open" ? sql`coalesce(a.asker, '')` : sql`a.asker`;
  const ofKind = kind === undefined ? empty : sql`AND a.kind = ${kind}`;
  const ofFunction = fn === undefined ? empty : sql`AND a.fn = ${fn}`;
  return sql`${ofKind} ${ofFunction} ${askers === undefined ? empty : sql`AND ${asker} IN (${join(["", ...askers])})`} ${due === undefined ? empty : isDue(due)}`;
}

function isDue(due: InboxDue): Sql {
  const soon = sql`(SELECT parley_now()) + ${SOON_MS}`;
  const today = sql`(SELECT parley_now()) + ${TODAY_MS}`;
  switch (due) {
    case "soon":
      return sql`AND a.expires_at <= ${soon}`;
    case "today":
      return sql`AND a.expires_at > ${soon} AND a.expires_at <= ${today}`;
    case "later":
      return sql`AND a.expires_at > ${today} AND a.expires_at < ${NO_DEADLINE}`;
    case "none":
      return sql`AND a.expires_at >= ${NO_DEADLINE}`;
  }
}
