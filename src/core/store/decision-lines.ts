import type { EndedBy, DecisionFilter, DecisionKind, DecisionLine, DecisionPlace } from "../model/decision-line.ts";
import type { Queryable } from "./db.ts";
import { empty, join, raw, type Sql, sql } from "./sql.ts";

/** The decisions of one room, as SQL reads them: `at` is the end of what has ended, and the creation of what waits. */
export interface DecisionSource {
  kind: DecisionKind;
  /** Columns id, at, created_at, agent, sentence, result, form, job_id, decided of what has ended. */
  ended: Sql;
  /** The same columns of what waits; `decided` is null. */
  waiting: Sql;
  /** Returns the sentence and the result as people read them. */
  show: (row: DecisionRow) => Pick<DecisionLine, "sentence" | "result">;
}

interface DecisionRow {
  sentence: string;
  result: string | null;
  form: string | null;
}

type StoredLine = DecisionRow & {
  id: string;
  at: number;
  created_at: number;
  agent: string;
  job_id: string | null;
  decided: EndedBy | null;
};

/** Returns up to `limit` decisions of one room before a place, the newest first. */
export async function listDecisionLines(
  on: Queryable,
  source: DecisionSource,
  filter: DecisionFilter,
  { after, limit }: DecisionPlace,
): Promise<DecisionLine[]> {
  const place = after ? sql`AND l.at <= ${after.at} AND (l.at < ${after.at} OR l.id < ${after.id})` : empty;
  const rows = await on.all<StoredLine>(
    sql`SELECT l.* FROM ${filter.isWaiting === true ? source.waiting : source.ended} l WHERE 1 = 1 ${within(filter)} ${place}
      ORDER BY l.at DESC, l.id DESC LIMIT ${limit}`,
  );
  return rows.map((row) => ({
    id: row.id,
    kind: source.kind,
    by: row.decided,
    ...source.show(row),
    agent: row.agent,
    createdAt: row.created_at,
    endedAt: filter.isWaiting === true ? null : row.at,
    jobId: row.job_id,
  }));
}

/** So many decisions ended in one bar, by one kind of decider. */
export interface DecisionCount {
  bar: number;
  by: EndedBy;
  count: number;
}

/** Counts what ended within the filter, in one reading of all rooms: by whole steps since 1970, or in one bar 0. */
export async function countDecisions(
  on: Queryable,
  sources: readonly DecisionSource[],
  filter: DecisionFilter,
  stepMs?: number,
): Promise<DecisionCount[]> {
  const parts = sources.map(({ ended }) => sql`SELECT l.at, l.decided FROM ${ended} l WHERE 1 = 1 ${within(filter)}`);
  // A number in the text divides as an integer.
  const bar = stepMs === undefined ? sql`0` : sql`d.at / ${raw(String(stepMs))}`;
  return on.all(
    sql`SELECT ${bar} AS bar, d.decided AS by, count(*) AS count
      FROM (${join(parts, " UNION ALL ")}) d GROUP BY bar, d.decided`,
  );
}

/** Counts what waits. */
export async function countWaitingLines(
  on: Queryable,
  sources: readonly DecisionSource[],
  filter: DecisionFilter,
): Promise<number> {
  const parts = sources.map(({ waiting }) => sql`SELECT l.at FROM ${waiting} l WHERE 1 = 1 ${within(filter)}`);
  const [row] = await on.all<{ count: number }>(sql`SELECT count(*) AS count FROM (${join(parts, " UNION ALL ")}) d`);
  return row?.count ?? 0;
}

/** Returns the wait that so many others, `skipped`, are not longer than; null where there are fewer. */
export async function waitAfter(
  on: Queryable,
  sources: readonly DecisionSource[],
  filter: DecisionFilter,
  skipped: number,
): Promise<number | null> {
  const parts = sources.map(
    ({ ended }) => sql`SELECT l.at - l.created_at AS wait FROM ${ended} l WHERE 1 = 1 ${within(filter)}`,
  );
  const [row] = await on.all<{ wait: number }>(
    sql`SELECT d.wait FROM (${join(parts, " UNION ALL ")}) d ORDER BY d.wait LIMIT 1 OFFSET ${skipped}`,
  );
  return row?.wait ?? null;
}

const within = ({ fromMs, untilMs, agent, by }: DecisionFilter): Sql => sql`
  ${fromMs === undefined ? empty : sql`AND l.at >= ${fromMs}`}
  ${untilMs === undefined ? empty : sql`AND l.at < ${untilMs}`}
  ${agent === undefined ? empty : sql`AND l.agent = ${agent}`}
  ${by === undefined ? empty : sql`AND l.decided = ${by}`}`;
