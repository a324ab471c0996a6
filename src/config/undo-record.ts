import { existsSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { usualDataDir } from "./data-dir.ts";
import { makeFolder, writeWhole } from "../lib/files/durable-files.ts";
import { linkedPlace } from "../lib/files/linked-place.ts";
import { sha256Digest } from "../lib/json/exact-json.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The state of a file before Parley was written into it. */
export interface FileBefore {
  /** False for a file that Parley made. */
  existed: boolean;
  /** The first folder above it that Parley made. */
  madeFolder?: string | undefined;
  /** Its text, where taking Parley out does not give it back, such as an empty file. */
  text?: string | undefined;
  /** SHA-256 of the text that Parley wrote: another one is the agent's own. */
  written: string;
  /** The addresses of hooks that Parley wrote into it. */
  addresses?: readonly string[] | undefined;
}

/** Everything that `parley connect` has to know to undo what it did, by the path of each file. */
export type UndoRecord = Readonly<Record<string, FileBefore>>;

const FILE = "connected-agents.json";
/** For its owner alone. */
const PRIVATE = 0o700;

const placeOf = (env: Environment): string => join(usualDataDir(env) ?? env["HOME"] ?? env["USERPROFILE"] ?? ".", FILE);

/** Returns what was recorded; nothing where no file is connected. @throws {Error} in one sentence */
export function readRecord(env: Environment): UndoRecord {
  const place = placeOf(env);
  if (!existsSync(place)) return {};
  try {
    return Object(JSON.parse(readFileSync(place, "utf8"))) as UndoRecord;
  } catch (error) {
    throw new Error(`${place} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the addresses of hooks that Parley wrote into files of agents. @throws {Error} in one sentence */
export function recordedAddresses(env: Environment): string[] {
  return Object.values(readRecord(env)).flatMap(({ addresses }) => (Array.isArray(addresses) ? addresses : []));
}

/** The record is on disk, for its owner alone; one that holds nothing is removed. @throws {Error} in one sentence */
export async function writeRecord(record: UndoRecord, env: Environment): Promise<void> {
  const place = placeOf(env);
  const isNothing = Object.keys(record).length === 0;
  if (isNothing && !existsSync(place)) return;
  try {
    if (isNothing) return rmSync(place);
    makeFolder(dirname(place), PRIVATE);
    await writeWhole(place, `${JSON.stringify(record, null, 2)}\n`);
  } catch (error) {
    throw new Error(unwritable(place, error as NodeJS.ErrnoException), { cause: error });
  }
}

/** The sentence about a record that cannot be kept; the file at fault is the first on the way that is no folder. */
function unwritable(place: string, { code }: NodeJS.ErrnoException): string {
  let file = dirname(place);
  while (!existsSync(file)) file = dirname(file);
  const needs = `Parley keeps in ${place} how to take its hooks out`;
  if (!statSync(file).isDirectory())
    return `${needs}, and ${file} is a file: move it away, so that a folder can stand there.`;
  return `${needs}, and cannot write it (${code}): make ${file} a folder in which you may write.`;
}

/** Returns the text that is to be in a file without Parley: as it was, or as the agent has left it. */
export function textBefore(current: string, before: FileBefore | undefined, without: string): string {
  const isOurs = before?.text !== undefined && digestOf(current) === before.written;
  return isOurs ? (before.text ?? "") : without;
}

/** Returns the digest by which a text is known again. */
export function digestOf(text: string): string {
  return sha256Digest(text);
}

/** Returns the first folder on the way to a file that is not there yet. */
export function firstMissing(file: string): string | undefined {
  let missing: string | undefined;
  for (let folder = dirname(linkedPlace(file)); !existsSync(folder); folder = dirname(folder)) missing = folder;
  return missing;
}

/** Removes the folders that Parley made for a file, as far as they are empty. */
export function removeFolders(file: string, madeFolder: string | undefined): void {
  if (madeFolder === undefined) return;
  for (let folder = dirname(linkedPlace(file)); folder.startsWith(madeFolder); folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      return;
    }
  }
}
