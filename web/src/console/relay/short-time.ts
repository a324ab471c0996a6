import { duration, number } from "../../format.ts";

/** Returns a short time exactly, a long one in its largest unit. */
export function shortTime(ms: number): string {
  return ms < 1000
    ? `${number(Math.round(ms))} ms`
    : ms < 60_000
      ? `${number(Math.round(ms / 100) / 10)} s`
      : duration(ms);
}
