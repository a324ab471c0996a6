import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder, replaceFile, writeWhole } from "../lib/files/durable-files.ts";
import { linkedPlace } from "../lib/files/linked-place.ts";
import { isEmptyJson } from "../lib/json/json-edit.ts";
import { printable } from "../lib/printable.ts";
import type { Arguments, Takes } from "./arguments.ts";
import { EXIT, type Io } from "./command.ts";
import { shownChange } from "./shown-change.ts";

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

export const CHANGE_FLAGS = {
  "--dry-run": "show what would be written, and write nothing",
  "--yes": "write it without asking, at a terminal too",
} as const satisfies Takes;

type ChangeFlags = Arguments<typeof CHANGE_FLAGS>;

/**
 * Shows changes, has whoever sits at a terminal agree to them, makes them, and returns the exit code: refused where they
 * do not agree. `says` holds the text for a change, and the one for no change; `first` is done once they agree.
 */
export async function makeChanges(
  changes: readonly Change[],
  { dryRun: isTrial, yes }: ChangeFlags,
  { done, already, first }: { done: string; already: string; first?: () => Promise<void> },
  io: Io,
): Promise<number> {
  const made = changes.filter(({ before, after }) => before !== after);
  if (made.length === 0) {
    io.tell(already);
    return EXIT.done;
  }
  for (const change of made) showChange(change, io);
  if (isTrial || !(await isAgreed({ yes }, io))) {
    io.tell("Nothing was written.");
    return isTrial ? EXIT.done : EXIT.refused;
  }
  await first?.();
  for (const change of made) await writeChange(change);
  io.tell(done);
  return EXIT.done;
}

/** Returns the text of a file; null where no file stands. @throws {Error} one sentence, for bytes that are no UTF-8 */
export function textIn(file: string): string | null {
  if (!existsSync(file)) return null;
  if (!statSync(file).isFile()) throw new Error(`${file} was left as it is: it is no regular file`);
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
  await writeText(file, isEmpty ? null : after);
}

/** The file has this text, or is removed for null; a link to it stays. */
export async function writeText(file: string, text: string | null): Promise<void> {
  if (text === null) rmSync(linkedPlace(file), { force: true });
  else await changeFile(file, text);
}

const OTHERS = 0o077;

/**
 * Checks that a key comes into no file that other people of this computer can read.
 *
 * @throws {Error} in one sentence
 */
export function refuseOpenFile({ file, before, after }: Omit<Change, "isEmpty">, key: string | undefined): void {
  if (before === after || !existsSync(file) || process.platform === "win32") return;
  const mode = statSync(file).mode & 0o777;
  const holdsKey = after.match(KEY) !== null || (key !== undefined && after.includes(key));
  if (!holdsKey || (mode & OTHERS) === 0) return;
  const [name, bits] = [file, mode.toString(8)];
  throw new Error(
    `${name} was left as it is: it would hold a key, and others can read it (mode ${bits}): chmod 600 it`,
  );
}

/** Returns whether nothing is left in a text, be it of JSON or of another form. */
export function isNothing(text: string): boolean {
  const left = text.trim();
  return left === "" || (left.startsWith("{") && isEmptyJson(text));
}

/** Asks whoever sits at a terminal whether changes are to be made; yes where nobody does, or where `yes` is set. */
export async function isAgreed({ yes }: Pick<ChangeFlags, "yes">, io: Io): Promise<boolean> {
  return yes || !io.prompt || /^(y|yes)?$/i.test((await io.prompt("Write it? [Y/n] ")) ?? "n");
}

/** Shows how a file changes. */
export function showChange({ file, before, after }: Change, io: Io): void {
  io.tell(`--- ${file}`);
  io.tell(`+++ ${file}`);
  for (const line of shownChange(before, after)) io.tell(printable(line.replaceAll("\t", "  ")));
}

/** The file is replaced at once, whole and for good, keeps its permissions, and stays a link where it is one. */
export async function changeFile(file: string, text: string): Promise<void> {
  if (existsSync(file)) return replaceFile(file, text);
  const place = linkedPlace(file);
  makeFolder(dirname(place), FOLDER_MODE);
  await writeWhole(place, text);
}
