import { durationText, parseDurationMs } from "../lib/duration.ts";
import { WrongUsage } from "./arguments.ts";

/** Returns the reader of a time, in milliseconds; the sentence about another text names these examples. */
export const milliseconds =
  (examples: string) =>
  (text: string, name: string): number => {
    const ms = parseDurationMs(text);
    if (ms === null) throw new WrongUsage(`${name} must be a time such as ${examples}`);
    return ms;
  };

/** Returns the reader of a time, in whole seconds. */
export const seconds =
  (examples: string) =>
  (text: string, name: string): number =>
    Math.round(milliseconds(examples)(text, name) / 1000);

/** Returns the reader of a time within bounds, in milliseconds. */
export const timeWithin =
  (leastMs: number, mostMs: number) =>
  (text: string, name: string): number => {
    const ms = parseDurationMs(text);
    if (ms !== null && ms >= leastMs && ms <= mostMs) return ms;
    throw new WrongUsage(`${name} must be a time from ${durationText(leastMs)} to ${durationText(mostMs)}`);
  };

/** Returns the reader of a whole number within bounds. */
export const numberWithin =
  (least: number, most: number) =>
  (text: string, name: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new WrongUsage(`${name} must be a number from ${least} to ${most}`);
  };

/** Reads a list whose items are separated by commas; where it is given several times, each is one item. */
export function listed(given: readonly string[]): string[] {
  const items = given.length === 1 ? (given[0] ?? "").split(",") : given;
  return items.map((item) => item.trim());
}
