import type { Clock } from "./clock.ts";

/** Lets each subject do so much a second, and more at once after a pause. */
export interface TokenBuckets {
  /** Takes one token of a subject; false when it has none left. */
  take(subject: string): boolean;
}

/** Subjects that are remembered: beyond so many everybody begins anew. */
const MOST_SUBJECTS = 100_000;

/** Opens buckets that begin full and refill by the second. */
export function openTokenBuckets(
  clock: Clock,
  { perSecond, burst }: { perSecond: number; burst: number },
): TokenBuckets {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(subject) {
      const at = clock.monotonic();
      let bucket = buckets.get(subject);
      if (!bucket) {
        if (buckets.size >= MOST_SUBJECTS) buckets.clear();
        buckets.set(subject, (bucket = { tokens: burst, at }));
      }
      bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond);
      bucket.at = at;
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
  };
}
