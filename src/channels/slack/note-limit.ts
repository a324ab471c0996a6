import type { Clock } from "../../lib/clock.ts";

const NOTES_PER_HOUR = 3;
const MOST_NOTED = 1000;
const HOUR_MS = 3_600_000;

/** Opens the limit on replies to messages: a few an hour about the same. */
export function openNoteLimit(clock: Clock): (about: string) => boolean {
  const noted = new Map<string, number[]>();
  return (about) => {
    const now = clock.monotonic();
    const recent = (noted.get(about) ?? []).filter((then) => now - then < HOUR_MS);
    if (recent.length >= NOTES_PER_HOUR) return false;
    if (noted.size >= MOST_NOTED) noted.delete(noted.keys().next().value ?? "");
    noted.delete(about);
    noted.set(about, [...recent, now]);
    return true;
  };
}
