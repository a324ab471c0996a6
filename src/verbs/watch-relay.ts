import type { Context } from "../context.ts";
import { figuresOf, type MinuteFigures } from "../model/relay-figures.ts";
import type { AskStatus, JobState, RelayAnswer, RelayAsk } from "../model/relay.ts";
import { readStoreClock } from "../store/activity.ts";
import { countPendingByStage, listEnded } from "../store/relay-activity.ts";
import { findAnswer } from "../store/relay-answers.ts";
import {
  listAskLines,
  listBesides,
  listJobLines,
  type AskLine,
  type JobLine,
  type LateAnswer,
  type ListPlace,
} from "../store/relay-lists.ts";
import { readRelayAsk } from "./read-relay.ts";

export type { AskLine, JobLine, LateAnswer, ListPlace } from "../store/relay-lists.ts";

const MINUTE_MS = 60_000;
const MINUTES = 60;
/** By then every answer of a minute has surely been written down. */
const SETTLED_AFTER_MS = 5000;

/** Returns a page of everybody's asks, the newest first, and where the next one begins. */
export async function listAllAsks(
  ctx: Pick<Context, "db">,
  { limit, ...page }: { status?: AskStatus; after?: ListPlace; limit: number },
): Promise<{ asks: AskLine[]; next: ListPlace | null }> {
  const found = await listAskLines(ctx.db, { ...page, limit: limit + 1 });
  const asks = found.slice(0, limit);
  return { asks, next: nextOf(asks, found.length > limit) };
}

/** Returns a page of everybody's jobs, the newest first, and where the next one begins. */
export async function listAllJobs(
  ctx: Pick<Context, "db">,
  { limit, ...page }: { states?: readonly JobState[]; after?: ListPlace; limit: number },
): Promise<{ jobs: JobLine[]; next: ListPlace | null }> {
  const found = await listJobLines(ctx.db, { ...page, limit: limit + 1 });
  const jobs = found.slice(0, limit);
  return { jobs, next: nextOf(jobs, found.length > limit) };
}

function nextOf(page: readonly { createdAt: number; id: string }[], isMore: boolean): ListPlace | null {
  const last = page.at(-1);
  return last && isMore ? { at: last.createdAt, id: last.id } : null;
}

/** The whole life of one ask. */
export interface WholeAsk {
  ask: RelayAsk;
  /** When it ended is the time of its answer; null while it is pending. */
  answer: RelayAnswer | null;
  late: readonly LateAnswer[];
  /** Asks that share its answer. */
  sharedBy: readonly string[];
}

const MOST_BESIDES = 50;

/** Returns anybody's ask as it is now, with its answer and what stands beside it. @throws {Refusal} `request_not_found` */
export async function readWholeAsk(ctx: Context, id: string): Promise<WholeAsk> {
  const { ask } = await readRelayAsk(ctx, id, { principal: "", readsAll: true });
  const [answer, besides] = await Promise.all([findAnswer(ctx.db, id), listBesides(ctx.db, id, MOST_BESIDES)]);
  return { ask, answer: answer?.answer ?? null, ...besides };
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
      const now = await readStoreClock(ctx.db);
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

/** What the relay is doing: each is told whole, and only when it has changed. */
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
  const told = new Map<RelayNews["kind"], string>();
  const over = AbortSignal.any([signal, ctx.stopping]);
  while (!over.aborted) {
    for (const news of [
      { kind: "asks", asks: await listAskLines(ctx.db, { limit: SHOWN.asks }) },
      { kind: "jobs", jobs: await listJobLines(ctx.db, { limit: SHOWN.jobs }) },
      { kind: "figures", figures: await figures.read() },
    ] as const) {
      const text = JSON.stringify(news);
      if (told.get(news.kind) === text) continue;
      told.set(news.kind, text);
      yield news;
    }
    await ctx.clock.sleep(LOOK_EVERY_MS, over);
  }
}
