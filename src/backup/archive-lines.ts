import { createHash } from "node:crypto";
import { join } from "node:path";
import { listArtifacts } from "../asks/store/artifacts.ts";
import { type Marks, readMarks } from "../core/store/store-marks.ts";
import type { ContainedFiles } from "../lib/files/contained-files.ts";
import type { Keyring } from "../lib/secrets/keyring.ts";
import { EXPORT_FORMAT, type ExportHeader, printEnd, printHeader, printLine, printRow } from "./model/export-lines.ts";
import { ARTIFACTS_FOLDER } from "./model/members.ts";
import { type Moment, type SnapshotSource, openMoment } from "./store/moment.ts";
import { judgeSource } from "./store/source-facts.ts";
import { countRows, readTables } from "./store/tables.ts";
import { openFitting, openTaking, partLines, sha256Of, type Taking } from "./take-artifacts.ts";

/** A store, and what belongs to it beside its rows. */
export interface StoreSource extends SnapshotSource {
  artifacts: ContainedFiles;
  keyring: Pick<Keyring, "open">;
  keyFile: string;
  settingsLeftOut: readonly string[];
  /** Reads the small files beside the database, as they are at the time of the call. */
  readBeside(): { name: string; bytes: Uint8Array }[];
}

export interface ArchiveHow extends Taking {
  version: string;
  /** The store while nobody writes; left out, it is read beside servers that write. */
  held?: Moment;
  isRowsAlone?: boolean;
}

/** The rows of an archive, their digest in order, and the number of its tables. */
export interface ArchivedRows {
  rows: number;
  sha256: string;
  tables: number;
}

export interface ArchiveReport extends Marks, ArchivedRows {
  artifacts: number;
  /** Files of jobs that the store had lost before. */
  damaged: readonly string[];
}

/**
 * Yields every row of the store as of one moment, which holds all that was acknowledged before the call, and every file
 * that belongs to it, as lines of JSON: files before rows. Each chunk ends with a line.
 *
 * @throws {Error} one sentence for the operator
 */
export async function* archiveLines(source: StoreSource, how: ArchiveHow): AsyncGenerator<Buffer, ArchiveReport> {
  const { held } = how;
  const open = () =>
    held ? Promise.resolve({ ...held, close: () => Promise.resolve() }) : openMoment(source, { isHeld: false });
  const rowsOf = how.isRowsAlone ? () => Promise.resolve([]) : listArtifacts;
  const { header, ahead } = await lookAhead(await open(), rowsOf, { source, how });
  yield Buffer.from(printHeader(header));
  const take = openTaking(source.artifacts, how);
  // Most files are taken while no moment is open: the log of a SQLite server grows as long as one is.
  yield* take(ahead);
  const files = how.isRowsAlone ? null : join(source.dataDir, ARTIFACTS_FOLDER);
  const { moment, kept, damaged } = yield* openFitting({ open, rowsOf, files }, take, how);
  try {
    if ((await judgeSource(moment, source)) !== header.schema) {
      throw new Error("The server was replaced by a newer one meanwhile; try again.");
    }
    const madeAtMs = how.clock.now();
    const digests = new Map(kept);
    for (const { name, bytes } of how.isRowsAlone ? [] : source.readBeside()) {
      yield* partLines(name, bytes);
      digests.set(name, sha256Of(bytes));
    }
    yield Buffer.from([...digests].map(([name, sha256]) => printLine({ kind: "file", name, sha256 })).join(""));
    // point: backup-before-rows
    const written = yield* rowLines(moment, { madeAtMs, how, header });
    return { ...written, ...(await readMarks(moment)), artifacts: kept.size, damaged };
  } finally {
    await moment.close();
  }
}

/** Reads the counts of rows as they are now; those at the end of the archive may be others. */
async function lookAhead<T>(
  moment: Moment,
  rowsOf: (on: Moment) => Promise<T>,
  { source, how }: { source: StoreSource; how: ArchiveHow },
): Promise<{ header: ExportHeader; ahead: T }> {
  try {
    const schema = await judgeSource(moment, source);
    const header = {
      format: EXPORT_FORMAT,
      parley: how.version,
      schema,
      madeAtMs: how.clock.now(),
      tables: await countRows(moment, await readTables(moment)),
      settingsLeftOut: source.settingsLeftOut,
    };
    return { header, ahead: await rowsOf(moment) };
  } finally {
    await moment.close();
  }
}

async function* rowLines(
  moment: Moment,
  { madeAtMs, header, how }: { madeAtMs: number; header: ExportHeader; how: ArchiveHow },
): AsyncGenerator<Buffer, ArchivedRows> {
  const about = Object.values(header.tables).reduce((sum, count) => sum + count, 0);
  const digest = createHash("sha256");
  const tables: Record<string, number> = {};
  let rows = 0;
  for (const table of await readTables(moment)) {
    const before = rows;
    for await (const some of moment.rows(table)) {
      how.signal.throwIfAborted();
      const lines = Buffer.from(some.map((row) => printRow(table.name, row)).join(""));
      digest.update(lines);
      yield lines;
      rows += some.length;
      how.onProgress(`reading rows: ${rows} of about ${about}`);
    }
    tables[table.name] = rows - before;
  }
  const sha256 = digest.digest("hex");
  yield Buffer.from(printEnd({ madeAtMs, tables, rows, sha256 }));
  return { rows, sha256, tables: Object.keys(tables).length };
}
