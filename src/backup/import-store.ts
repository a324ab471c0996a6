import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FILE_MODE, FOLDER_MODE, HIGHWATER_FILE } from "../core/store/data-dir.ts";
import { highwaterLine } from "../core/store/highwater.ts";
import { byteLines } from "../lib/files/byte-lines.ts";
import { makeFolder } from "../lib/files/durable-files.ts";
import { writeAll } from "../lib/files/tar.ts";
import { digestOf, openDigest } from "./digest.ts";
import { fillFolder } from "./fill-folder.ts";
import { EXPORT_FORMAT, type ExportHeader, readHeader, readLine, type Row } from "./model/export-lines.ts";
import { isRestored, KEY_NAME } from "./model/members.ts";
import type { SnapshotSource } from "./store/moment.ts";
import { receiveOnPostgres, receiveOnSqlite, type Receiver } from "./store/receive-rows.ts";
import { type Marks, readMarks } from "../core/store/store-marks.ts";

interface ImportHow {
  schema: number;
  version: string;
  onProgress(line: string): void;
  signal: AbortSignal;
}

export interface ImportReport extends Marks {
  header: ExportHeader;
  rows: number;
  sha256: string;
}

const ROWS_AT_ONCE = 1000;
/** Beyond this, rows are written before there are so many. */
const BYTES_AT_ONCE = 4_194_304;
const HEADER_MOST = 1_048_576;
const ROW_BEGINS = '{"table":';

/**
 * An empty store holds what an export says, and the folder the files that belong to it. The rows are compared with the
 * export after they were written, by their digest; whatever fails, and wherever it is killed, neither is half there.
 *
 * @throws {Error} one sentence for the operator
 */
export async function importStore(path: string, place: SnapshotSource, how: ImportHow): Promise<ImportReport> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new Error(`There is no file ${path}.`) : error;
  });
  try {
    const header = await readFirst(file, path);
    judgeVersion(header, how);
    const reading: Reading = { file, path, header, how };
    let end: End | undefined;
    let marks: Marks | undefined;
    const schema = header.schema;
    const fill = (receiver: Receiver) => putRows(reading, receiver, end);
    const { databaseUrl } = place;
    const write = async () => {
      end = await checkAndTakeFiles(reading, place.dataDir);
      if (databaseUrl !== undefined) return;
      marks = await receiveOnSqlite(place.dataDir, { schema, fill });
      await writeFresh(join(place.dataDir, HIGHWATER_FILE), highwaterLine(marks.commitNo));
    };
    await fillFolder(place.dataDir, write, async (wasUnfinished) => {
      if (databaseUrl === undefined) return;
      // One that was killed right after the commit has all of its rows there.
      const isSame = async (there: Receiver) => {
        if (!wasUnfinished || (await digestOf(there, () => {})).sha256 !== end?.sha256) return null;
        return readMarks(there);
      };
      marks = await receiveOnPostgres({ ...place, databaseUrl }, { schema, fill }, isSame);
    });
    if (!marks || !end) throw new Error("nothing was received");
    return { ...marks, ...end, header };
  } finally {
    await file.close();
  }
}

interface Reading {
  file: FileHandle;
  path: string;
  header: ExportHeader;
  how: ImportHow;
}

interface End {
  rows: number;
  sha256: string;
}

const damaged = (path: string, why: string) =>
  new Error(`${path} is damaged (${why}); nothing was imported from it. Make another export.`);

async function readFirst(file: FileHandle, path: string): Promise<ExportHeader> {
  const notOne = new Error(`${path} is not an export that parley export has made.`);
  if (!(await file.stat()).isFile()) throw notOne;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_MOST), 0, HEADER_MOST, 0);
  const header = readHeader(buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0] ?? "");
  if (!header) throw notOne;
  return header;
}

function judgeVersion({ format, schema, parley }: ExportHeader, how: ImportHow): void {
  if (format <= EXPORT_FORMAT && schema <= how.schema) return;
  throw new Error(
    `The export was made by a newer Parley (${parley}, schema ${schema}) than this one (${how.version}, schema ${how.schema}); import it with that one.`,
  );
}

/** Reads all of it once: its files are in the folder, and its rows are as many and the same as its end says. */
async function checkAndTakeFiles({ file, path, header, how }: Reading, dataDir: string): Promise<End> {
  const { size } = await file.stat();
  const digest = openDigest();
  const wanted = new Map<string, string>();
  const parts = openParts(dataDir);
  let [at, rows] = [0, 0];
  let end: End | undefined;
  let isFirst = true;
  for await (const line of byteLines(file)) {
    how.signal.throwIfAborted();
    at += line.length;
    how.onProgress(`checking the export: ${Math.floor((100 * at) / size)} %`);
    if (end) throw damaged(path, "something follows its end");
    if (isFirst) {
      isFirst = false;
      continue;
    }
    if (line.toString("latin1", 0, ROW_BEGINS.length) === ROW_BEGINS) {
      digest.add(line);
      rows += 1;
      continue;
    }
    const parsed = readLine(line.toString("utf8"));
    if (parsed?.is === "part" && isRestored(parsed.name)) await parts.add(parsed);
    else if (parsed?.is === "file") wanted.set(parsed.name, parsed.sha256);
    else if (parsed?.is === "end") end = parsed;
    else throw damaged(path, "a line is not of an export");
  }
  await parts.end();
  if (!end) throw damaged(path, "it is cut off");
  const counted = Object.values(header.tables).reduce((sum, count) => sum + count, 0);
  if (rows !== end.rows || rows !== counted) throw damaged(path, "rows are missing");
  if (digest.value() !== end.sha256) throw damaged(path, "its rows are not those that were exported");
  for (const [name, sha256] of wanted) {
    if (parts.digests.get(name) !== sha256) throw damaged(path, `${name} is not what was exported`);
  }
  if (!wanted.has(KEY_NAME)) throw damaged(path, `${KEY_NAME} is missing`);
  // A file of a job that was replaced or deleted while the export was made.
  for (const name of parts.digests.keys()) if (!wanted.has(name)) await rm(join(dataDir, name));
  return { rows: end.rows, sha256: end.sha256 };
}

/** Files that are written part by part, one after another. */
function openParts(dataDir: string) {
  const digests = new Map<string, string>();
  let current: { name: string; file: FileHandle; hash: ReturnType<typeof createHash>; at: number } | undefined;
  async function end(): Promise<void> {
    if (!current) return;
    digests.set(current.name, current.hash.digest("hex"));
    await current.file.close();
    current = undefined;
  }
  return {
    digests,
    end,
    async add({ name, at, base64 }: { name: string; at: number; base64: string }): Promise<void> {
      if (at === 0) {
        await end();
        const path = join(dataDir, name);
        makeFolder(dirname(path), FOLDER_MODE);
        current = { name, file: await open(path, "w", FILE_MODE), hash: createHash("sha256"), at: 0 };
      }
      if (current?.name !== name || current.at !== at) throw new Error(`${name} of the export is not in one piece.`);
      const bytes = Buffer.from(base64, "base64");
      current.hash.update(bytes);
      await writeAll(current.file, bytes);
      current.at += bytes.length;
    },
  };
}

/** Writes the bytes into a new file of the folder. The caller that fills the folder syncs it. */
export async function writeFresh(path: string, bytes: string | Uint8Array): Promise<void> {
  makeFolder(dirname(path), FOLDER_MODE);
  const file = await open(path, "wx", FILE_MODE);
  try {
    await writeAll(file, Buffer.from(bytes));
  } finally {
    await file.close();
  }
}

async function putRows({ file, path, header, how }: Reading, receiver: Receiver, end: End | undefined): Promise<Marks> {
  const tables = new Map(receiver.tables.map((table) => [table.name, table]));
  const unknown = Object.keys(header.tables).find((table) => !tables.has(table));
  if (unknown !== undefined) throw damaged(path, `schema ${header.schema} has no table ${unknown}`);
  const all = end?.rows ?? 0;
  let [name, bytes, done] = ["", 0, 0];
  let rows: Row[] = [];
  const flush = async () => {
    if (rows.length === 0) return;
    const table = tables.get(name);
    if (!table) throw damaged(path, `its first line does not count ${name}`);
    // point: import-before-rows
    await receiver.insert(table, rows);
    how.onProgress(`writing rows: ${(done += rows.length)} of ${all}`);
    [rows, bytes] = [[], 0];
  };
  for await (const line of byteLines(file)) {
    how.signal.throwIfAborted();
    if (line.toString("latin1", 0, ROW_BEGINS.length) !== ROW_BEGINS) continue;
    const parsed = readLine(line.toString("utf8"));
    if (parsed?.is !== "row") throw damaged(path, "a line is not of an export");
    if (parsed.table !== name || rows.length >= ROWS_AT_ONCE || bytes > BYTES_AT_ONCE) await flush();
    name = parsed.table;
    rows.push(parsed.row);
    bytes += line.length;
  }
  await flush();
  return compareRows(receiver, end?.sha256, how);
}

/** Reads the written rows again and compares their digest. @throws {Error} where it is not the expected one */
export async function compareRows(
  receiver: Receiver,
  sha256: string | undefined,
  { onProgress }: Pick<ImportHow, "onProgress">,
): Promise<Marks> {
  const written = await digestOf(receiver, (done) => onProgress(`comparing rows: ${done}`));
  if (written.sha256 !== sha256) throw new Error("What was written is not what was read; nothing was kept of it.");
  return readMarks(receiver);
}
