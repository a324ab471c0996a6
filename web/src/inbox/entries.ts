import { text } from "./text.ts";
import type { ListedAsk } from "./wire.ts";

/** A line of the list: one ask, or the calls of one agent and function. */
export interface Entry {
  /** Its place in the room, behind `/inbox/`. */
  place: string;
  /** The asks that are loaded of it, in the order of the list; never empty. */
  rows: readonly ListedAsk[];
  /** How many calls it stands for; null for one ask. */
  count: number | null;
}

/** Fewer calls are as quickly read one by one. */
const LEAST_ALIKE = 3;
const PLACE = "alike-";

/** Returns the place in the room of several calls, by their id. */
export const placeOfBatch = (id: string): string => PLACE + id;

/** Returns the id of the calls that a place in the room is about, if it is about several. */
export function batchIn(place: string): string | null {
  return place.startsWith(PLACE) ? place.slice(PLACE.length) : null;
}

/** Returns the lines of a list: alike calls are one line, where the first of them stands, unless all are read one by one. */
export function entriesOf(rows: readonly ListedAsk[], isOneByOne: boolean): Entry[] {
  const entries = new Map<string, { rows: ListedAsk[]; count: number | null }>();
  for (const row of rows) {
    const alike = !isOneByOne && row.alike !== null && row.alike.count >= LEAST_ALIKE ? row.alike : null;
    const place = alike ? placeOfBatch(alike.id) : row.id;
    const entry = entries.get(place);
    if (entry) entry.rows.push(row);
    else entries.set(place, { rows: [row], count: alike?.count ?? null });
  }
  return [...entries].map(([place, entry]) => ({ place, ...entry }));
}

/** The words of a line: those of its first ask, and how many are alike. */
export function sentenceOf(ask: ListedAsk, count: number | null): string {
  const sentence = ask.outcome?.sentence ?? ask.sentence;
  return count === null ? sentence : text.alike(count, sentence);
}

/** Returns whether a place in the room is this line, or one of its asks. */
export function isAt({ place, rows }: Entry, current: string | undefined): boolean {
  return place === current || rows.some(({ id }) => id === current);
}
