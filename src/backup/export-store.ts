import type { FileHandle } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { SCHEMA_NUMBER } from "../core/store/migrate.ts";
import type { ContainedFiles } from "../lib/files/contained-files.ts";
import type { Keyring } from "../lib/secrets/keyring.ts";
import { type TarWriter, writeAll } from "../lib/files/tar.ts";
import { openDigest } from "./digest.ts";
import { makeNewFile } from "./make-new-file.ts";
import { EXPORT_FORMAT, type ExportHeader, printHeader, printLine, printRow } from "./model/export-lines.ts";
import { ARTIFACTS_FOLDER } from "./model/members.ts";
import { type Moment, type SnapshotSource, openMoment } from "./store/moment.ts";
import { type Marks, readMarks } from "../core/store/store-marks.ts";
import { judgeSource } from "./store/source-facts.ts";
import { countRows, readTables, type Table } from "./store/tables.ts";
import { openFitting, openTakenArtifacts, type Taking } from "./take-artifacts.ts";

/** A store, and what belongs to it beside its rows. */
export interface StoreSource extends SnapshotSource {
  artifacts: ContainedFiles;
  keyring: Pick<Keyring, "open">;
  keyFile: string;
  settingsLeftOut: readonly string[];
  /** Reads the small files beside the database, as they are at the time of the call. */
  readBeside(): { name: string; bytes: Uint8Array }[];
}

export interface ExportHow extends Taking {
  version: string;
}

export interface ExportReport extends Marks {
  rows: number;
  sha256: string;
  tables: number;
  artifacts: number;
  damaged: readonly string[];
}

const MOST_COUNT = Number.MAX_SAFE_INTEGER;
const PART_BYTES = 196_608;

/**
 * A new file holds every row as of one moment, and every file that belongs to it, as lines of JSON; servers may write
 * meanwhile. Until it is whole nothing is at `target`.
 *
 * @throws {Error} one sentence for the operator; nothing is left then
 */
export function exportStore(target: string, source: StoreSource, how: ExportHow): Promise<ExportReport> {
  return makeNewFile(target, how.signal, (file) => fill(file, source, how));
}

async function fill(file: FileHandle, source: StoreSource, how: ExportHow): Promise<ExportReport> {
  const archive = openPartWriter(file);
  const taken = openTakenArtifacts(source.artifacts, archive, how);
  const ahead = await openMoment(source, { isHeld: false });
  let header: ExportHeader;
  let rowsAhead;
  try {
    await judgeSource(ahead, source);
    const tables = await readTables(ahead);
    const longest = Object.fromEntries(tables.map(({ name }) => [name, MOST_COUNT]));
    header = { ...headerOf(source, how), madeAtMs: how.clock.now(), tables: longest };
    rowsAhead = await taken.rowsOf(ahead);
  } finally {
    await ahead.close();
  }
  // The counts are known later: the line is as long as it will ever be.
  const room = Buffer.byteLength(printHeader(header));
  await writeAll(file, Buffer.alloc(room, " "));
  await writeAll(file, Buffer.from("\n"));
  await taken.take(rowsAhead);
  const open = () => openMoment(source, { isHeld: false });
  const files = join(source.dataDir, ARTIFACTS_FOLDER);
  const { snapshot, wanted, damaged } = await openFitting({ open, files }, taken, how);
  try {
    for (const { name, bytes } of source.readBeside()) {
      wanted.set(name, await archive.add(name, bytes.length, [bytes]));
    }
    const lines = [...wanted].map(([name, sha256]) => printLine({ is: "file", name, sha256 }));
    await writeAll(file, Buffer.from(lines.join("")));
    const written = await writeRows(file, snapshot, how);
    const first = { ...header, madeAtMs: written.madeAtMs, tables: written.counts };
    await file.write(printHeader(first).padEnd(room), 0);
    const artifacts = [...wanted.keys()].filter((name) => name.startsWith(`${ARTIFACTS_FOLDER}/`)).length;
    return { ...written, ...(await readMarks(snapshot)), artifacts, damaged };
  } finally {
    await snapshot.close();
  }
}

const headerOf = ({ settingsLeftOut }: StoreSource, { version }: ExportHow) => ({
  format: EXPORT_FORMAT,
  parley: version,
  schema: SCHEMA_NUMBER,
  settingsLeftOut,
});

/** Writes files as lines; of one that comes again the last counts. */
function openPartWriter(file: FileHandle): Pick<TarWriter, "add"> {
  return {
    async add(name, size, source) {
      const hash = createHash("sha256");
      let at = 0;
      const write = (bytes: Uint8Array) =>
        writeAll(file, Buffer.from(printLine({ is: "part", name, at, base64: Buffer.from(bytes).toString("base64") })));
      for await (const chunk of source) {
        hash.update(chunk);
        for (let begin = 0; begin < chunk.length; begin += PART_BYTES) {
          const part = chunk.subarray(begin, begin + PART_BYTES);
          await write(part);
          at += part.length;
        }
      }
      if (size === 0) await write(new Uint8Array());
      return hash.digest("hex");
    },
  };
}

async function writeRows(file: FileHandle, moment: Moment, { clock, onProgress, signal }: ExportHow) {
  const tables: readonly Table[] = await readTables(moment);
  const counts = await countRows(moment, tables);
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const madeAtMs = clock.now();
  const digest = openDigest();
  let rows = 0;
  for (const table of tables) {
    for await (const some of moment.rows(table)) {
      signal.throwIfAborted();
      const lines = Buffer.from(some.map((row) => printRow(table.name, row)).join(""));
      digest.add(lines);
      await writeAll(file, lines);
      rows += some.length;
      onProgress(`writing rows: ${rows} of ${all}`);
    }
  }
  const sha256 = digest.value();
  await writeAll(file, Buffer.from(printLine({ is: "end", rows, sha256 })));
  return { counts, madeAtMs, rows, sha256, tables: tables.length };
}
