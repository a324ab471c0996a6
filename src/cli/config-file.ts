import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder, replaceFile, writeWhole } from "../lib/files/durable-files.ts";
import { lineDiff } from "../lib/line-diff.ts";
import { isEmptyJson } from "../lib/json/json-edit.ts";
import { printable } from "../lib/printable.ts";
import { EXIT, type Io } from "./command.ts";

const KEY = /parley_([a-z]+)_[0-9A-Za-z]{38}/g;
/** As the user's own mask leaves it. */
const FOLDER_MODE = 0o777;

/** A change to another program's settings file. */
export interface Change {
  file: string;
  before: string;
  after: string;
  /** True where nothing is left in the file, so that it is deleted. */
  isEmpty: boolean;
}

export const CHANGE_OPTIONS = {
  file: { type: "string" },
  "dry-run": { type: "boolean" },
  yes: { type: "boolean" },
} as const;

export const CHANGE_FLAGS = {
  "--dry-run": "show what would be written, and write nothing",
  "--yes": "write it without asking, at a terminal too",
} as const;

/**
 * Shows changes, has whoever sits at a terminal agree to them, makes them, and returns the exit code: refused where they
 * do not agree. `says` holds the text for a change, and the one for no change.
 */
export async function makeChanges(
  changes: readonly Change[],
  { "dry-run": isTrial, yes }: { "dry-run"?: boolean | undefined; yes?: boolean | undefined },
  says: { done: string; already: string },
  io: Io,
): Promise<number> {
  const made = changes.filter(({ before, after }) => before !== after);
  if (made.length === 0) {
    io.tell(says.already);
    return EXIT.done;
  }
  for (const change of made) showChange(change, io);
  if (isTrial || !(await isAgreed({ yes }, io))) {
    io.tell("Nothing was written.");
    return isTrial ? EXIT.done : EXIT.refused;
  }
  for (const change of made) await writeChange(change);
  io.tell(says.done);
  return EXIT.done;
}

/** Returns the text of a file; null where no file stands. @throws {Error} one sentence, for bytes that are no UTF-8 */
export function textIn(file: string): string | null {
  if (!existsSync(file)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Error(`${file} was left as it is: it is not UTF-8`, { cause: error });
  }
}

/**
 * Makes a change: the file is written, or removed where nothing is left in it.
 *
 * @throws {Error} in one sentence, where another program has written the file since it was read
 */
export async function writeChange({ file, before, after, isEmpty }: Change): Promise<void> {
  if ((textIn(file) ?? "") !== before)
    throw new Error(`${file} was left as it is: it has changed meanwhile, try again`);
  if (isEmpty) rmSync(file, { force: true });
  else await changeFile(file, after);
}

/** Returns whether nothing is left in a text, be it of JSON or of another form. */
export function isNothing(text: string): boolean {
  const left = text.trim();
  return left === "" || (left.startsWith("{") && isEmptyJson(text));
}

/** Asks whoever sits at a terminal whether changes are to be made; yes where nobody does, or where `yes` is set. */
export async function isAgreed({ yes }: { yes?: boolean | undefined }, io: Io): Promise<boolean> {
  return yes || !io.prompt || /^(y|yes)?$/i.test((await io.prompt("Write it? [Y/n] ")) ?? "n");
}

/** Shows how a file changes. Keys are in files because programs need them there; a terminal is read by others too. */
export function showChange({ file, before, after }: Change, io: Io): void {
  io.tell(`--- ${file}`);
  io.tell(`+++ ${file}`);
  for (const line of lineDiff(before, after))
    io.tell(printable(line.replaceAll("\t", "  ").replace(KEY, "parley_$1_[key]")));
}

/** The file is replaced at once, whole and for good, keeps its permissions, and stays a link where it is one. */
export async function changeFile(file: string, text: string): Promise<void> {
  if (existsSync(file)) return replaceFile(file, text);
  makeFolder(dirname(file), FOLDER_MODE);
  await writeWhole(file, text);
}
