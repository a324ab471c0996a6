import type { Tag } from "./question.ts";

/** The facts about an open question that the feed needs. */
export interface FeedEntry {
  id: string;
  need: number;
  n: number;
  createdAt: number;
  expiresAt: number;
  lastAnswerAt: number | null;
  audience: readonly Tag[];
}

/** A place in the order: highest urgency first, ties by `tie`. */
export interface FeedPosition {
  urgency: number;
  tie: string;
}

export interface RankedEntry<Entry> extends FeedPosition {
  entry: Entry;
}

const MINUTE_MS = 60_000;
const IDLE_PERIOD_MS = 15 * MINUTE_MS;
const MOST_DOUBLINGS = 20;

/**
 * Returns how urgently a question needs answers at `at`: the more are missing and the sooner it expires the higher, and
 * twice as high for every 15 minutes it was left alone, so that nothing starves (spec/ask-a-human 4.2).
 */
export function urgencyAt(entry: FeedEntry, at: number): number {
  const idleMs = Math.max(0, at - (entry.lastAnswerAt ?? entry.createdAt));
  const doublings = Math.min(MOST_DOUBLINGS, Math.floor(idleMs / IDLE_PERIOD_MS));
  const minutesLeft = Math.max((entry.expiresAt - at) / MINUTE_MS, 1);
  return ((entry.need - entry.n) / minutesLeft) * 2 ** doublings;
}

/** Orders two places as the feed shows them. */
export function compareForFeed(one: FeedPosition, other: FeedPosition): number {
  return other.urgency - one.urgency || (one.tie < other.tie ? -1 : one.tie > other.tie ? 1 : 0);
}

/**
 * Returns the page of `limit` entries that follows `after`, in the feed's order as of `at`.
 *
 * `tieOf` spreads equals over people. An entry that was answered since page one can only have moved down, so that no
 * page skips one; one may repeat.
 */
export function pageOf<Entry extends FeedEntry>(
  entries: readonly Entry[],
  options: { at: number; after?: FeedPosition; limit: number; tieOf: (id: string) => string },
): { page: RankedEntry<Entry>[]; more: boolean } {
  const { at, after, limit, tieOf } = options;
  const left: Entry[] = [];
  const urgencies: number[] = [];
  for (const entry of entries) {
    const urgency = urgencyAt(entry, at);
    if (after && (urgency > after.urgency || (urgency === after.urgency && tieOf(entry.id) <= after.tie))) continue;
    left.push(entry);
    urgencies.push(urgency);
  }
  const more = left.length > limit;
  const least = more ? (Float64Array.from(urgencies).sort().at(-limit) ?? 0) : 0;

  const ranked: RankedEntry<Entry>[] = [];
  for (const [i, entry] of left.entries()) {
    const urgency = urgencies[i] ?? 0;
    if (urgency < least) continue;
    let tie: string | undefined;
    ranked.push({
      entry,
      urgency,
      // Found when it is asked for, and only for what may be on the page: a tie costs a MAC.
      get tie() {
        return (tie ??= tieOf(entry.id));
      },
    });
  }
  ranked.sort(compareForFeed);
  return { page: ranked.slice(0, limit), more };
}

/** Puts those last that have at least as many other readers as missing answers; the rest keep their order. */
export function settleCrowded<Entry extends FeedEntry>(
  page: readonly RankedEntry<Entry>[],
  othersOn: (id: string) => number,
): RankedEntry<Entry>[] {
  const crowded = (place: RankedEntry<Entry>) => othersOn(place.entry.id) >= place.entry.need - place.entry.n;
  return [...page.filter((place) => !crowded(place)), ...page.filter(crowded)];
}
