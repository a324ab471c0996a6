import { systemClock } from "../../lib/clock.ts";

/** How much a line matters to whoever watches the log, by the numbers that pino has for its levels. */
const LEVELS = { info: 30, warn: 40, fatal: 60 } as const;
export type LineLevel = keyof typeof LEVELS;

/** Returns a line of the server's log that no setting leaves out. */
export function logLine(
  text: string,
  level: LineLevel = "info",
  more: Readonly<Record<string, string | number>> = {},
): string {
  return JSON.stringify({ level: LEVELS[level], time: systemClock.now(), ...more, msg: text });
}
