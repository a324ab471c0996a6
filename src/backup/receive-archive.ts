import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findNewestEntry } from "../core/store/audit.ts";
import { FILE_MODE, FOLDER_MODE, HIGHWATER_FILE } from "../core/store/data-dir.ts";
import type { Queryable } from "../core/store/db.ts";
import { highwaterLine } from "../core/store/highwater.ts";
import { SCHEMA_NUMBER } from "../core/store/migrate.ts";
import { type Marks, readMarks } from "../core/store/store-marks.ts";
import { byteLines } from "../lib/files/byte-lines.ts";
import { makeFolder, writeAll } from "../lib/files/durable-files.ts";
import { VERSION } from "../lib/version.ts";
import type { ArchivedRows } from "./archive-lines.ts";
import { beginEpoch, type EpochHow, type EpochSource, restoredData } from "./begin-epoch.ts";
import { fillFolder } from "./fill-folder.ts";
import type { ArchiveWords } from "./model/archive-words.ts";
import { EXPORT_FORMAT, type ExportEnd, type ExportHeader, type ExportLine } from "./model/export-lines.ts";
import { readHeader, readLine, type Row } from "./model/export-lines.ts";
import { isRestored, KEY_NAME } from "./model/members.ts";
import { RESTORED } from "./store/held-rows.ts";
import { digestOf, receiveOnPostgres, receiveOnSqlite, type Receiver } from "./store/receive-rows.ts";

/** The place of the new store: a folder, a folder and a PostgreSQL database, or for rows alone such a database. */
export interface ReceivePlace {
  dataDir?: string;
  databaseUrl?: string | undefined;
  databaseListenUrl?: string | undefined;
  databaseWaitMs: number;
}

export interface ReceiveHow {
  /** The archive, as sentences name it. */
  name: string;
  words: ArchiveWords;
  onProgress(line: string): void;
  signal: AbortSignal;
  /** A restore begins a new epoch; null for a move, which has the store as it is now. */
  epoch: EpochHow | null;
}

export interface ReceiveReport extends Marks, ArchivedRows {
  madeAtMs: number;
  settingsLeftOut: readonly string[];
}

/** An archive whose first line was read. */
interface Reading {
  header: ExportHeader;
  /** Its lines, of which one that was read too far stands in `ahead`. */
  lines: AsyncGenerator<Buffer>;
  ahead?: Buffer;
  how: ReceiveHow;
}

const ROWS_AT_ONCE = 1000;
/** Beyond this, rows are written before there are so many. */
const BYTES_AT_ONCE = 4_194_304;
const ROW_BEGINS = '{"table":';
const NO_LINE = "a line is not of an export";

/**
 * An empty store holds what the archive says, and the folder the files that belong to it. The archive is read once; its
 * counts and digests are compared before anything counts, and the rows once more as they were written. Whatever fails,
 * and wherever it is killed, neither is half there.
 *
 * @throws {Error} one sentence for the operator
 */
export async function receiveArchive(
  chunks: AsyncIterable<Uint8Array>,
  place: ReceivePlace,
  how: ReceiveHow,
): Promise<ReceiveReport> {
  const lines = byteLines(chunks);
  try {
    const reading: Reading = { header: await readFirst(lines, how), lines, how };
    const { databaseUrl, dataDir } = place;
    const receiving = {
      schema: reading.header.schema,
      fill: (receiver: Receiver) => putRows(reading, receiver),
      change: async (on: Queryable, filled: ReceiveReport) => {
        if (how.epoch) await beginEpoch(on, sourceOf(filled), how.epoch);
      },
    };
    let report: ReceiveReport | undefined;
    const intoPostgres = async (wasUnfinished: boolean) => {
      if (databaseUrl === undefined) return;
      // One that was killed right after the commit has all of its rows there.
      const isSame = (there: Receiver) => (wasUnfinished ? compareThere(reading, there) : Promise.resolve(null));
      report = await receiveOnPostgres({ ...place, databaseUrl }, receiving, isSame);
    };
    const write = async (folder: string) => {
      await takeFiles(reading, folder);
      if (databaseUrl !== undefined) return;
      report = await receiveOnSqlite(folder, receiving);
      await writeHighwaterIn(folder, report.commitNo);
    };
    if (dataDir === undefined) await intoPostgres(false);
    else await fillFolder(dataDir, () => write(dataDir), intoPostgres);
    if (!report) throw new Error("nothing was received");
    return report;
  } finally {
    await lines.return(undefined);
  }
}

const sourceOf = ({ madeAtMs, sha256 }: Required<Pick<ExportEnd, "madeAtMs" | "sha256">>): EpochSource => ({
  madeAt: new Date(madeAtMs).toISOString(),
  sha256,
});

const damaged = ({ name, words }: ReceiveHow, why: string) =>
  new Error(`${name} is damaged (${why}); nothing was ${words.done} from it. ${words.again}`);

async function readFirst(lines: AsyncGenerator<Buffer>, how: ReceiveHow): Promise<ExportHeader> {
  const { words } = how;
  const { value } = (await lines.next()) as { value?: Buffer };
  const header = readHeader(String(value));
  if (!header) throw new Error(`${how.name} is not ${words.one} that parley ${words.noun} has made.`);
  if (header.format > EXPORT_FORMAT || header.schema > SCHEMA_NUMBER) {
    throw new Error(
      `The ${words.noun} was made by a newer Parley (${header.parley}, schema ${header.schema}) than this one (${VERSION}, schema ${SCHEMA_NUMBER}); ${words.read} it with that one.`,
    );
  }
  return header;
}

async function nextLine(reading: Reading): Promise<Buffer | undefined> {
  reading.how.signal.throwIfAborted();
  const { ahead } = reading;
  delete reading.ahead;
  if (ahead) return ahead;
  const next = await reading.lines.next();
  return next.done ? undefined : next.value;
}

const isRowLine = (line: Buffer): boolean => line.toString("latin1", 0, ROW_BEGINS.length) === ROW_BEGINS;
const parse = (line: Buffer): ExportLine | null => readLine(line.toString("utf8"));

/** The files of the archive are in the folder, and compared; the line after them is the next one. */
async function takeFiles(reading: Reading, dataDir: string): Promise<void> {
  const { how } = reading;
  const wanted = new Map<string, string>();
  const parts = openParts(dataDir);
  try {
    for (;;) {
      const line = await nextLine(reading);
      if (!line) throw damaged(how, "it is cut off");
      const parsed = isRowLine(line) ? null : parse(line);
      if (parsed?.kind === "part" && isRestored(parsed.name)) {
        how.onProgress(`writing files: ${parsed.name}`);
        if (!(await parts.add(parsed))) throw damaged(how, `${parsed.name} is not in one piece`);
      } else if (parsed?.kind === "file") wanted.set(parsed.name, parsed.sha256);
      else {
        reading.ahead = line;
        break;
      }
    }
  } finally {
    await parts.end();
  }
  for (const [name, sha256] of wanted) {
    if (parts.digests.get(name) !== sha256) throw damaged(how, `${name} is not what was ${how.words.made}`);
  }
  if (!wanted.has(KEY_NAME)) throw damaged(how, `${KEY_NAME} is missing`);
  // A file of a job that was replaced or deleted while the archive was made.
  for (const name of parts.digests.keys()) if (!wanted.has(name)) await rm(join(dataDir, name));
}

/** Files that are written part by part, one after another. */
function openParts(dataDir: string) {
  const digests = new Map<string, string>();
  let current: { name: string; file: FileHandle; hash: Hash; at: number } | undefined;
  async function end(): Promise<void> {
    if (!current) return;
    digests.set(current.name, current.hash.digest("hex"));
    await current.file.close();
    current = undefined;
  }
  return {
    digests,
    end,
    /** Returns false where the part does not follow the one before. */
    async add({ name, at, base64 }: { name: string; at: number; base64: string }): Promise<boolean> {
      if (at === 0) {
        await end();
        const path = join(dataDir, name);
        makeFolder(dirname(path), FOLDER_MODE);
        current = { name, file: await open(path, "w", FILE_MODE), hash: createHash("sha256"), at: 0 };
      }
      if (current?.name !== name || current.at !== at) return false;
      const bytes = Buffer.from(base64, "base64");
      current.hash.update(bytes);
      await writeAll(current.file, bytes);
      current.at += bytes.length;
      return true;
    },
  };
}

async function writeHighwaterIn(dataDir: string, commitNo: number): Promise<void> {
  const file = await open(join(dataDir, HIGHWATER_FILE), "wx", FILE_MODE);
  try {
    await writeAll(file, highwaterLine(commitNo));
  } finally {
    await file.close();
  }
}

async function putRows(reading: Reading, receiver: Receiver): Promise<ReceiveReport> {
  const end = await readRows(reading, receiver);
  const { onProgress } = reading.how;
  const sha256 = await digestOf(receiver, (done) => onProgress(`comparing rows: ${done} of ${end.rows}`));
  if (sha256 !== end.sha256) throw new Error("What was written is not what was read; nothing was kept of it.");
  return reportOf(reading, end, receiver);
}

/** Returns null unless the rows that are there were restored just so from this very archive, and nobody used them since. */
async function compareThere(reading: Reading, there: Receiver): Promise<ReceiveReport | null> {
  const end = await readRows(reading, null);
  const restored = await findNewestEntry(there, RESTORED);
  const expected = restoredData(sourceOf(end), reading.how.epoch?.keeps ?? []);
  return restored?.isLast && isDeepStrictEqual(restored.data, expected) ? reportOf(reading, end, there) : null;
}

async function reportOf(
  { header }: Reading,
  { tables, ...end }: Required<ExportEnd>,
  on: Receiver,
): Promise<ReceiveReport> {
  const { settingsLeftOut } = header;
  return { ...(await readMarks(on)), ...end, settingsLeftOut, tables: Object.keys(tables).length };
}

/** Reads all rows to the end of the archive, and compares them with it; the receiver has them. */
async function readRows(reading: Reading, receiver: Receiver | null): Promise<Required<ExportEnd>> {
  const { how, header } = reading;
  const inserting = openInserting(receiver, reading);
  const digest = createHash("sha256");
  const counts = new Map<string, number>();
  for (let line = await nextLine(reading); line; line = await nextLine(reading)) {
    const parsed = parse(line);
    if (parsed?.kind === "row" && isRowLine(line)) {
      digest.update(line);
      counts.set(parsed.table, (counts.get(parsed.table) ?? 0) + 1);
      await inserting.add(parsed.table, parsed.row, line.length);
      continue;
    }
    if (parsed?.kind !== "end") throw damaged(how, NO_LINE);
    if (await nextLine(reading)) throw damaged(how, "something follows its end");
    // The first format counts in its first line.
    const end = { madeAtMs: header.madeAtMs, tables: header.tables, ...parsed };
    const isComplete = Object.entries(end.tables).every(([table, count]) => (counts.get(table) ?? 0) === count);
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const expected = Object.values(end.tables).reduce((sum, count) => sum + count, 0);
    if (!isComplete || all !== end.rows || all !== expected) throw damaged(how, "rows are missing");
    if (digest.digest("hex") !== end.sha256) throw damaged(how, `its rows are not those that were ${how.words.made}`);
    await inserting.end(Object.keys(end.tables));
    return end;
  }
  throw damaged(how, "it is cut off");
}

/**
 * Inserts rows, many at once. An insertion that failed is reported at the end: rows that the digest shows to be damaged
 * may be refused by the database first.
 */
function openInserting(receiver: Receiver | null, { header, how }: Reading) {
  const tables = new Map(receiver?.tables.map((table) => [table.name, table]));
  const about = Object.values(header.tables).reduce((sum, count) => sum + count, 0);
  let [name, bytes, done] = ["", 0, 0];
  let rows: Row[] = [];
  let failure: unknown;
  async function flush(): Promise<void> {
    const table = tables.get(name);
    if (table && receiver && rows.length > 0 && failure === undefined) {
      // point: import-before-rows
      await receiver.insert(table, rows).catch((error: unknown) => (failure = error));
      how.onProgress(`writing rows: ${(done += rows.length)} of about ${about}`);
    }
    [rows, bytes] = [[], 0];
  }
  return {
    async add(table: string, row: Row, length: number): Promise<void> {
      if (table !== name || rows.length >= ROWS_AT_ONCE || bytes > BYTES_AT_ONCE) await flush();
      name = table;
      rows.push(row);
      bytes += length;
    },
    async end(expected: readonly string[]): Promise<void> {
      await flush();
      const unknown = receiver && expected.find((table) => !tables.has(table));
      if (unknown != null) throw damaged(how, `schema ${header.schema} has no table ${unknown}`);
      if (failure !== undefined) throw failure as Error;
    },
  };
}
