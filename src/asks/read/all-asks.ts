import type { Context } from "../../context.ts";
import { type ListPage, type ListPosition, pageOf } from "../../core/model/list-page.ts";
import { figuresOf, type MinuteFigures } from "../model/figures.ts";
import type { AskStatus, JobState, AskAnswer } from "../model/ask.ts";
import { storeNow } from "../../core/store/db.ts";
import { countJobs, countPendingByStage, listEnded, oldestPendingMs } from "../store/activity.ts";
import { findAnswer } from "../store/answers.ts";
import type { AskAt } from "../store/asks.ts";
import {
  listAskLines,
  listJobLines,
  listLate,
  listSharing,
  type AskLine,
  type JobLine,
  type LateAnswer,
} from "../store/lists.ts";
import { readAsk } from "./read-ask.ts";

export type { AskLine, JobLine, LateAnswer } from "../store/lists.ts";

const MINUTE_MS = 60_000;
const MINUTES = 60;
/** By then every answer of a minute has surely been written down. */
const SETTLED_AFTER_MS = 5000;

/** Returns a page of everybody's asks, the newest first, and where the next one begins. */
export async function listAllAsks(
  ctx: Pick<Context, "db">,
  { limit, ...page }: { status?: AskStatus; after?: ListPosition; limit: number },
): Promise<ListPage<AskLine>> {
  return pageOf(await listAskLines(ctx.db, { ...page, limit: limit + 1 }), limit, placeOf);
}

/** Returns how many asks wait for an answer, whoever asked, and for how long the oldest has waited. */
export async function countWaiting({ db }: Pick<Context, "db">): Promise<{ open: number; oldestMs: number }> {
  const [pending, oldestMs] = await Promise.all([countPendingByStage(db), oldestPendingMs(db)]);
  return { open: pending.reduce((sum, { count }) => sum + count, 0), oldestMs };
}

/** Returns how many jobs are in one of these states. */
export async function countJobsIn({ db }: Pick<Context, "db">, states: readonly JobState[]): Promise<number> {
  const counts = (await countJobs(db)).filter(({ state }) => states.includes(state));
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** Returns a page of everybody's jobs, the newest first, and where the next one begins. */
export async function listAllJobs(
  ctx: Pick<Context, "db">,
  { limit, ...page }: { states?: readonly JobState[]; after?: ListPosition; limit: number },
): Promise<ListPage<JobLine>> {
  return pageOf(await listJobLines(ctx.db, { ...page, limit: limit + 1 }), limit, placeOf);
}

const placeOf = ({ createdAt: at, id }: { createdAt: number; id: string }): ListPosition => ({ at, id });

/** The whole life of one ask. */
export interface AskHistory extends Pick<AskAt, "ask" | "warnings" | "now"> {
  /** When it ended is the time of its answer; null while it is pending. */
  answer: AskAnswer | null;
  late: LatePage;
  sharedBy: ListPage<ListPosition>;
}

/** A page of answers that came too late for an ask, and where the next page begins; null after the last. */
export interface LatePage {
  items: readonly LateAnswer[];
  next: number | null;
}

type Anybodys = Pick<Context, "db">;

/** Returns one page of what came too late for anybody's ask, the oldest first. */
export async function listLateAnswers(
  ctx: Anybodys,
  id: string,
  { skipped, limit }: { skipped: number; limit: number },
): Promise<LatePage> {
  const found = await listLate(ctx.db, id, { skipped, limit: limit + 1 });
  return { items: found.slice(0, limit), next: found.length > limit ? skipped + limit : null };
}

/** Returns one page of the asks that share the answer of anybody's ask, the oldest first. */
export async function listSharedBy(
  ctx: Anybodys,
  id: string,
  page: { after?: ListPosition; limit: number },
): Promise<ListPage<ListPosition>> {
  return pageOf(await listSharing(ctx.db, id, { ...page, limit: page.limit + 1 }), page.limit, (last) => last);
}

/**
 * Returns anybody's ask as it is now, with its answer and the first page of each list beside it.
 *
 * @throws {Refusal} `ask_not_found`
 */
export async function readWholeAsk(ctx: Context, id: string, limit: number): Promise<AskHistory> {
  const { ask, warnings, now } = await readAsk(ctx, id, { principal: "", readsAll: true });
  const [answer, late, sharedBy] = await Promise.all([
    findAnswer(ctx.db, id),
    listLateAnswers(ctx, id, { skipped: 0, limit }),
    listSharedBy(ctx, id, { limit }),
  ]);
  return { ask, warnings, now, answer: answer?.answer ?? null, late, sharedBy };
}

/** The last hour, minute by minute, and what is pending now, by stage. */
export interface HourFigures {
  minutes: readonly MinuteFigures[];
  pending: Awaited<ReturnType<typeof countPendingByStage>>;
}

/** Reads the figures of the last hour again and again: a minute that is over is read once, whoever looks. */
export function openHourFigures(ctx: Pick<Context, "db">): { read(): Promise<HourFigures> } {
  const over = new Map<number, MinuteFigures>();
  return {
    async read() {
      const now = await storeNow(ctx.db);
      const last = Math.floor(now / MINUTE_MS);
      for (const minute of over.keys()) if (minute <= last - MINUTES) over.delete(minute);
      const minutes: MinuteFigures[] = [];
      for (let minute = last - MINUTES + 1; minute <= last; minute += 1) {
        const [from, to] = [minute * MINUTE_MS, (minute + 1) * MINUTE_MS];
        const known = over.get(minute) ?? figuresOf(from, await listEnded(ctx.db, from - 1, to - 1));
        if (to + SETTLED_AFTER_MS < now) over.set(minute, known);
        minutes.push(known);
      }
      return { minutes, pending: await countPendingByStage(ctx.db) };
    },
  };
}

/** The relay's present activity. Each kind is sent whole, and only when it has changed. */
export type RelayNews =
  | { kind: "asks"; asks: readonly AskLine[] }
  | { kind: "jobs"; jobs: readonly JobLine[] }
  | { kind: "figures"; figures: HourFigures };

const LOOK_EVERY_MS = 1000;
const SHOWN = { asks: 30, jobs: 20 };

/** Yields the newest asks and jobs and the figures of the hour, at once and whenever a look each second finds them changed. */
export async function* followRelayNews(
  ctx: Pick<Context, "db" | "clock" | "stopping">,
  figures: { read(): Promise<HourFigures> },
  signal: AbortSignal,
): AsyncGenerator<RelayNews> {
  const sent = new Map<RelayNews["kind"], string>();
  const over = AbortSignal.any([signal, ctx.stopping]);
  while (!over.aborted) {
    for (const news of [
      { kind: "asks", asks: await listAskLines(ctx.db, { limit: SHOWN.asks }) },
      { kind: "jobs", jobs: await listJobLines(ctx.db, { limit: SHOWN.jobs }) },
      { kind: "figures", figures: await figures.read() },
    ] as const) {
      const text = JSON.stringify(news);
      if (sent.get(news.kind) === text) continue;
      sent.set(news.kind, text);
      yield news;
    }
    await ctx.clock.sleep(LOOK_EVERY_MS, over);
  }
}
