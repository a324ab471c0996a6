import { existsSync, readFileSync, rmdirSync, rmSync } from "node:fs";
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

/** A hook that was just written into a file. */
export interface HookWritten {
  file: string;
  before: string;
  after: string;
  /** The text after the hook is taken out again. */
  without: string;
  isNew: boolean;
  /** The address of a hook by HTTP. */
  url?: string | undefined;
}

/** Notes how the files of a hook were before, so that taking it out gives them back, and its addresses, by which it is known. */
export async function recordHook(written: readonly HookWritten[], env: Environment): Promise<void> {
  const record = readRecord(env);
  const next = written.map(({ file, ...one }) => [file, withHookNoted(record[file], one)]);
  if (next.length > 0) await writeRecord({ ...record, ...Object.fromEntries(next) }, env);
}

function withHookNoted(known: FileBefore | undefined, written: Omit<HookWritten, "file">): FileBefore {
  const { before, after, without, isNew, url } = written;
  const isAsWritten = known === undefined || known.written === digestOf(before);
  const text = known ? known.text : !isNew && without !== before ? before : undefined;
  const addresses = [...new Set([...(known?.addresses ?? []), ...(url === undefined ? [] : [url])])];
  return {
    existed: known?.existed ?? !isNew,
    ...(known?.madeFolder !== undefined && { madeFolder: known.madeFolder }),
    ...(text !== undefined && { text }),
    written: isAsWritten ? digestOf(after) : known.written,
    ...(addresses.length > 0 && { addresses }),
  };
}

/** Forgets the files that are gone. */
export async function forgetMissing(env: Environment): Promise<void> {
  const record = readRecord(env);
  const left = Object.entries(record).filter(([file]) => existsSync(file));
  if (left.length < Object.keys(record).length) await writeRecord(Object.fromEntries(left), env);
}

/** The record is on disk, for its owner alone; one that holds nothing is removed. */
export async function writeRecord(record: UndoRecord, env: Environment): Promise<void> {
  const place = placeOf(env);
  if (Object.keys(record).length === 0) return rmSync(place, { force: true });
  makeFolder(dirname(place), PRIVATE);
  await writeWhole(place, `${JSON.stringify(record, null, 2)}\n`);
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
