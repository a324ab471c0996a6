import { keepResults } from "../../lib/kept-results.ts";

/** Where a person's streak stood after an answer. */
export interface StreakMark {
  /** The local calendar day, `YYYY-MM-DD`. */
  day: string;
  days: number;
}

const DAY_MS = 86_400_000;

/** Returns the calendar day of a moment in an IANA zone, `YYYY-MM-DD`. */
export function localDay(at: number, timeZone: string): string {
  return minuteIn(at, timeZone).slice(0, 10);
}

/** Returns the hour of a moment in an IANA zone, 0-23. */
export function localHour(at: number, timeZone: string): number {
  return Number(minuteIn(at, timeZone).slice(11, 13));
}

/** Returns the minutes since midnight of a moment in an IANA zone. */
export function localMinute(at: number, timeZone: string): number {
  const [hours = 0, minutes = 0] = minuteIn(at, timeZone).slice(11, 16).split(":").map(Number);
  return hours * 60 + minutes;
}

/** True for the name of a zone that the platform knows; an offset such as `+02:00` is no zone. */
export function isTimeZone(timeZone: string): boolean {
  if (timeZone.length > LONGEST_NAME || !/^[A-Za-z]/.test(timeZone)) return false;
  try {
    zoneOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the streak after an answer on `day`: the same or an earlier day changes nothing, the next day adds one, a
 * later one starts again (spec/ask-a-human 5.3).
 */
export function continueStreak(last: StreakMark | null, day: string): StreakMark {
  if (!last) return { day, days: 1 };
  if (day <= last.day) return last;
  return { day, days: daysBetween(last.day, day) === 1 ? last.days + 1 : 1 };
}

/** Returns the streak as it stands on `today`: broken when neither today nor yesterday had an answer. */
export function streakOn(last: StreakMark | null, today: string): number {
  return last && daysBetween(last.day, today) <= 1 ? last.days : 0;
}

function daysBetween(one: string, other: string): number {
  return (Date.parse(other) - Date.parse(one)) / DAY_MS;
}

const LONGEST_NAME = 64;
const MINUTE_MS = 60_000;
/** There are a few hundred zones, but every name may be written in capitals or not. */
const MOST_ZONES = 1000;

interface Zone {
  formatter: Intl.DateTimeFormat;
  /** The last minute that was formatted, counted since 1970, and its text. Most answers come in the same one. */
  minute: number;
  text: string;
}

// Making a formatter costs some 50 microseconds, and using it 4.
const zoneOf = keepResults(MOST_ZONES, (timeZone): Zone => {
  // The Swedish locale writes ISO dates: 2026-02-02 14:05.
  const formatter = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
  return { formatter, minute: Number.NaN, text: "" };
});

/** Returns the minute of a moment in a zone, `YYYY-MM-DD HH:MM`. Offsets since 1972 are whole minutes. */
function minuteIn(at: number, timeZone: string): string {
  const zone = zoneOf(timeZone);
  const minute = Math.floor(at / MINUTE_MS);
  if (minute !== zone.minute) [zone.minute, zone.text] = [minute, zone.formatter.format(at)];
  return zone.text;
}
