const HOUR_MS = 3_600_000;

/** Until when a request may be put aside. */
export interface SnoozeTime {
  name: "hour" | "evening" | "tomorrow" | "latest";
  at: number;
}

/** Returns the time at an hour of the day, by the reader's clock, so many days later. */
function atHour(hour: number, now: number, daysLater: number): number {
  const time = new Date(now);
  time.setDate(time.getDate() + daysLater);
  return time.setHours(hour, 0, 0, 0);
}

/**
 * Returns the times that are offered. The server takes a request back when half of the time to its deadline has passed:
 * that stands in place of every later one.
 */
export function snoozeTimes(now: number, expiresAt: string | null): SnoozeTime[] {
  const latest = expiresAt === null ? Infinity : now + Math.floor((Date.parse(expiresAt) - now) / 2);
  const times: SnoozeTime[] = [
    { name: "hour", at: now + HOUR_MS },
    ...(now < atHour(17, now, 0) ? [{ name: "evening", at: atHour(18, now, 0) } as const] : []),
    { name: "tomorrow", at: atHour(8, now, 1) },
  ];
  const offered = times.filter(({ at }) => at <= latest);
  return offered.length < times.length ? [...offered, { name: "latest", at: latest }] : offered;
}
