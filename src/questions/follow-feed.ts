import type { QuestionId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import { listOpen } from "./list-open.ts";
import { storeNow } from "../core/store/db.ts";
import { FEED_TOPIC, watch } from "../core/store/wake.ts";

/** One change of the feed everybody sees. */
export interface FeedChange {
  kind: "opened" | "needs" | "gone";
  questionId: QuestionId;
  /** Answers still missing, where the question is open. */
  needed?: number;
}

export interface FeedChanges {
  /** Yields what changes from now on, until aborted. */
  changes(signal: AbortSignal): AsyncGenerator<FeedChange>;
}

/** Changes within this time, in ms, are sent together: the feed is read once for all who follow it. */
const GATHER_MS = 100;
/** Without any word of a change the feed is read again after this long. */
const QUIET_MS = 5000;
/** After a read that failed the feed is read again after this long. */
const AGAIN_MS = 1000;
/** A follower that lets more than this wait is far behind, and is let go; it reads the feed again. */
const MOST_WAITING = 1000;

/** Follows the feed on behalf of everybody on this node who wants to; reads nothing while nobody does. */
export function followFeed(ctx: Context): FeedChanges {
  const followers = new Set<(changes: readonly FeedChange[]) => void>();
  let following: Promise<void> | null = null;

  async function follow(): Promise<void> {
    try {
      using changes = watch(ctx, [FEED_TOPIC], [ctx.stopping]);
      let known: Map<string, number> | null = null;
      while (followers.size > 0 && !ctx.stopping.aborted) {
        const now = await readNeedsIfPossible();
        if (known && now) tellAll(compare(known, now));
        known = now ?? known;
        await changes.next(now ? QUIET_MS : AGAIN_MS);
        await ctx.clock.sleep(GATHER_MS, ctx.stopping);
      }
    } finally {
      // Here and not in a later turn: a caller that comes in between would wait for somebody who has just left.
      following = null;
    }
  }

  /** A read that failed ends nothing for those who follow: the next one brings what they missed. */
  async function readNeedsIfPossible(): Promise<Map<string, number> | null> {
    try {
      return await readNeeds(ctx);
    } catch (error) {
      ctx.log.warn({ err: error }, "the feed could not be read");
      return null;
    }
  }

  function tellAll(changes: readonly FeedChange[]): void {
    if (changes.length > 0) for (const tell of followers) tell(changes);
  }

  return {
    async *changes(signal) {
      let waiting: FeedChange[] = [];
      let bell = new AbortController();
      const tell = (changes: readonly FeedChange[]) => {
        waiting.push(...changes);
        bell.abort();
      };
      const ring = () => bell.abort();
      signal.addEventListener("abort", ring);
      ctx.stopping.addEventListener("abort", ring);
      followers.add(tell);
      following ??= follow();
      try {
        while (!signal.aborted && !ctx.stopping.aborted && waiting.length < MOST_WAITING) {
          if (waiting.length === 0) await ctx.clock.sleep(QUIET_MS, bell.signal);
          if (bell.signal.aborted) bell = new AbortController();
          const feedChanges = waiting;
          waiting = [];
          yield* feedChanges;
        }
      } finally {
        followers.delete(tell);
        signal.removeEventListener("abort", ring);
        ctx.stopping.removeEventListener("abort", ring);
      }
    },
  };
}

async function readNeeds(ctx: Context): Promise<Map<string, number>> {
  const now = await storeNow(ctx.db);
  const { entries } = await listOpen(ctx);
  return new Map(entries.filter(({ expiresAt }) => expiresAt > now).map((entry) => [entry.id, entry.need - entry.n]));
}

function compare(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): FeedChange[] {
  const changes: FeedChange[] = [];
  for (const [questionId, needed] of after) {
    const needs = before.get(questionId);
    if (needs === undefined) changes.push({ kind: "opened", questionId, needed });
    else if (needs !== needed) changes.push({ kind: "needs", questionId, needed });
  }
  for (const questionId of before.keys()) if (!after.has(questionId)) changes.push({ kind: "gone", questionId });
  return changes;
}
