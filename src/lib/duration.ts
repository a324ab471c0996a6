const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the milliseconds of a text such as `90s`, `15m`, `1.5h` or `90d`, or null for anything else. */
export function parseDurationMs(text: string): number | null {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return amount === undefined || unitMs === undefined ? null : Math.round(Number(amount) * unitMs);
}

/** Returns milliseconds as `parseDurationMs` reads them, in the largest unit that needs no fraction: `90s`, `24h`. */
export function durationText(ms: number): string {
  const [unit = "ms", unitMs = 1] = Object.entries(UNIT_MS).findLast(([, one]) => ms > 0 && ms % one === 0) ?? [];
  return `${ms / unitMs}${unit}`;
}

/** Returns a duration as people read a clock: `0:42`, `58:12`, `1:02:03`. Less than a second counts as one. */
export function clockText(ms: number): string {
  const total = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  const two = (number: number) => String(number).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}
