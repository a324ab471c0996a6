import type { Tag } from "../../questions/model/question.ts";
import { localMinute } from "../../questions/model/streak.ts";

export interface QuietHours {
  start: string;
  end: string;
  time_zone: string;
}

/** The notices that a device asked for, and its address. */
export interface PushSettings {
  kind: "fcm" | "web";
  /** The FCM token, or the push endpoint. */
  address: string;
  keys: { p256dh: string; auth: string } | null;
  minIntervalMinutes: number;
  /** Tags of interest; none means all. */
  audience: readonly Tag[];
  quietHours: QuietHours | null;
}

/** Returns how long the quiet hours still last at `at`, in milliseconds; 0 outside them. They may span midnight. */
export function quietMsLeft(quiet: QuietHours | null, at: number): number {
  if (!quiet) return 0;
  const [start, end] = [minuteOf(quiet.start), minuteOf(quiet.end)];
  const now = localMinute(at, quiet.time_zone);
  const isQuiet = start <= end ? start <= now && now < end : start <= now || now < end;
  return isQuiet ? ((end - now + DAY_MINUTES) % DAY_MINUTES) * 60_000 - (at % 60_000) : 0;
}

/**
 * True when somebody with these tags of interest wants notices of a question: no tags mean all, `general` meets all.
 */
export function isOfInterest(interests: readonly Tag[], audience: readonly Tag[]): boolean {
  return interests.length === 0 || audience.includes("general") || interests.some((tag) => audience.includes(tag));
}

const DAY_MINUTES = 1440;

function minuteOf(clockTime: string): number {
  const [hours = 0, minutes = 0] = clockTime.split(":").map(Number);
  return hours * 60 + minutes;
}
