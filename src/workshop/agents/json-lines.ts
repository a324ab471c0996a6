import type { JsonObject } from "../../lib/json/json-body.ts";
import { isExactNumber, readExactJson } from "../../lib/json/exact-json.ts";

/** Nothing that agents say is nested so deep; what can be read can also be written again. */
const MOST_LEVELS = 200;
/** The longest line of an agent. A longer notification is dropped, and a longer request is refused. */
const MOST_LINE_CHARACTERS = 1_048_576;
/** The longest text that is shown to people or kept in a log, in characters. */
const MOST_SHOWN = 65_536;

/** Returns the object that a line of an agent's output holds, with every digit of its numbers; null for anything else. */
export function readObject(line: string): JsonObject | null {
  if (line.length > MOST_LINE_CHARACTERS) return null;
  try {
    const value = readExactJson(line);
    return isObject(value) && isShallow(value, MOST_LEVELS) ? value : null;
  } catch {
    return null;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** Returns the value if it is an object, else an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the objects of a list; what else is in it is passed over. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Returns a count; undefined for anything but a finite number of at least 0. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Returns a text, cut where it is longer than anybody reads. */
export function shown(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)} [cut: ${text.length} characters]`;
}

function isShallow(value: unknown, levelsLeft: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levelsLeft === 0) return false;
  return Object.values(value).every((member) => isShallow(member, levelsLeft - 1));
}
