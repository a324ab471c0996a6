import type { Context } from "../context.ts";
import { listFeedEntries } from "../store/asks.ts";
import { FEED_TOPIC, watch } from "../store/wake.ts";

/** One change of the feed everybody sees. */
export interface FeedChange {
  kind: "opened" | "needs" | "gone";
  askId: string;
  /** Answers still missing, where the question is open. */
  needed?: number;
}

export interface FeedChanges {
  /** Yields what changes from now on, until aborted. */
  changes(signal: AbortSignal): AsyncGenerator<FeedChange>;
}

/** Changes within this time are told together: the feed is read once for all who follow it. */
const GATHER_MS = 100;
/** Without any word of a change the feed is read again after this long. */
const QUIET_MS = 5000;
/** A follower that lets more than this wait is far behind, and is let go; it reads the feed again. */
const MOST_WAITING = 1000;

/** Follows the feed on behalf of everybody on this node who wants to; reads nothing while nobody does. */
export function followFeed(ctx: Context): FeedChanges {
  const followers = new Set<(changes: readonly FeedChange[]) => void>();
  let following: Promise<void> | null = null;

  async function follow(): Promise<void> {
    using changes = watch(ctx, [FEED_TOPIC], [ctx.stopping]);
    let known = await readNeeds(ctx);
    while (followers.size > 0 && !ctx.stopping.aborted) {
      await changes.next(QUIET_MS);
      await ctx.clock.sleep(GATHER_MS, ctx.stopping);
      const now = await readNeeds(ctx);
      const told = compare(known, now);
      if (told.length > 0) for (const tell of followers) tell(told);
      known = now;
    }
  }

  return {
    async *changes(signal) {
      let waiting: FeedChange[] = [];
      let bell = new AbortController();
      const tell = (told: readonly FeedChange[]) => {
        waiting.push(...told);
        bell.abort();
      };
      const ring = () => bell.abort();
      signal.addEventListener("abort", ring);
      ctx.stopping.addEventListener("abort", ring);
      followers.add(tell);
      following ??= follow()
        .catch((error: unknown) => ctx.log.warn({ err: error }, "the feed could not be followed"))
        .finally(() => (following = null));
      try {
        while (!signal.aborted && !ctx.stopping.aborted && waiting.length < MOST_WAITING) {
          if (waiting.length === 0) await ctx.clock.sleep(QUIET_MS, bell.signal);
          if (bell.signal.aborted) bell = new AbortController();
          const told = waiting;
          waiting = [];
          yield* told;
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
  return new Map((await listFeedEntries(ctx.db, [])).map((entry) => [entry.id, entry.need - entry.n]));
}

function compare(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): FeedChange[] {
  const changes: FeedChange[] = [];
  for (const [askId, needed] of after) {
    const needs = before.get(askId);
    if (needs === undefined) changes.push({ kind: "opened", askId, needed });
    else if (needs !== needed) changes.push({ kind: "needs", askId, needed });
  }
  for (const askId of before.keys()) if (!after.has(askId)) changes.push({ kind: "gone", askId });
  return changes;
}
