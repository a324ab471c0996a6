import type { Context } from "../context.ts";
import { ASK_LINES } from "../asks/store/decision-lines.ts";
import {
  DECIDERS,
  type EndedBy,
  type DecisionFilter,
  type DecisionLine,
  type DecisionPlace,
} from "../core/model/decision-line.ts";
import { type ListPage, pageOf } from "../core/model/list-page.ts";
import { storeNow } from "../core/store/db.ts";
import {
  countDecisions,
  countWaitingLines,
  type DecisionCount,
  type DecisionSource,
  listDecisionLines,
  waitAfter,
} from "../core/store/decision-lines.ts";
import { QUESTION_LINES } from "../questions/store/decision-lines.ts";
import { REQUEST_LINES } from "../requests/store/decision-lines.ts";

export type DeciderCounts = Record<EndedBy, number>;

const SOURCES: readonly DecisionSource[] = [QUESTION_LINES, REQUEST_LINES, ASK_LINES];
const HOUR_MS = 3_600_000;
/** The bars of each span; they begin at whole steps of UTC. */
const SPANS = {
  day: { stepMs: HOUR_MS, bars: 24 },
  week: { stepMs: 6 * HOUR_MS, bars: 28 },
  month: { stepMs: 24 * HOUR_MS, bars: 30 },
} as const;
export type ActivitySpan = keyof typeof SPANS;

const sourcesOf = ({ kind }: DecisionFilter): readonly DecisionSource[] =>
  SOURCES.filter((source) => kind === undefined || source.kind === kind);
const placeOf = ({ id, endedAt, createdAt }: DecisionLine) => ({ at: endedAt ?? createdAt, id });

/**
 * Returns a page of what was decided, or of what waits, the newest first. `total` counts every page of a filter that has
 * a beginning, or of what waits.
 */
export async function readActivity(
  { db }: Pick<Context, "db">,
  given: DecisionFilter,
  { after, limit }: DecisionPlace,
): Promise<ListPage<DecisionLine> & { total: number | undefined; at: number }> {
  const at = await storeNow(db);
  // Decisions of the very time of the reading may still be under way.
  const filter = given.isWaiting === true ? given : { ...given, untilMs: Math.min(given.untilMs ?? at, at) };
  const place = { ...(after && { after }), limit: limit + 1 };
  const found = await Promise.all(sourcesOf(filter).map((source) => listDecisionLines(db, source, filter, place)));
  const lines = found.flat().sort(byPlace);
  return { ...pageOf(lines, limit, placeOf), total: await countAll({ db }, filter), at };
}

function byPlace(one: DecisionLine, other: DecisionLine): number {
  const [a, b] = [placeOf(one), placeOf(other)];
  return b.at - a.at || (a.id < b.id ? 1 : -1);
}

async function countAll({ db }: Pick<Context, "db">, filter: DecisionFilter): Promise<number | undefined> {
  if (filter.isWaiting === true) return countWaitingLines(db, sourcesOf(filter), filter);
  const { fromMs } = filter;
  if (fromMs === undefined) return undefined;
  const counts = await countDecisions(db, sourcesOf(filter), filter);
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** The numbers of a span that ends at `at`. */
interface HourCounts {
  at: number;
  fromMs: number;
  stepMs: number;
  bars: readonly DeciderCounts[];
  before: DeciderCounts;
  medianMs: number | null;
  p95Ms: number | null;
  waiting: number;
}

/** Counts the decisions of a span, and of as long a time before it. The waits are exact, of what people decided. */
export async function readHours({ db }: Pick<Context, "db">, span: ActivitySpan): Promise<HourCounts> {
  const { stepMs, bars } = SPANS[span];
  const at = await storeNow(db);
  const fromMs = Math.floor(at / stepMs) * stepMs - (bars - 1) * stepMs;
  const lengthMs = at - fromMs;
  const period = { fromMs, untilMs: at };
  const [counts, before, waiting] = await Promise.all([
    countDecisions(db, SOURCES, period, stepMs),
    countDecisions(db, SOURCES, { fromMs: fromMs - lengthMs, untilMs: fromMs }),
    countWaitingLines(db, SOURCES, {}),
  ]);
  const people = sumOf(counts).people;
  const waitOf = (share: number) =>
    waitAfter(db, SOURCES, { ...period, by: "people" }, Math.max(Math.ceil(people * share) - 1, 0));
  const [medianMs, p95Ms] = await Promise.all([waitOf(0.5), waitOf(0.95)]);
  return {
    at,
    fromMs,
    stepMs,
    medianMs,
    p95Ms,
    waiting,
    bars: Array.from({ length: bars }, (_, bar) => sumOf(counts.filter((one) => one.bar === fromMs / stepMs + bar))),
    before: sumOf(before),
  };
}

/** Returns the sums of counts, by decider. */
function sumOf(counts: readonly Pick<DecisionCount, "by" | "count">[]): DeciderCounts {
  const sums = Object.fromEntries(DECIDERS.map((by) => [by, 0])) as DeciderCounts;
  for (const { by, count } of counts) sums[by] += count;
  return sums;
}
