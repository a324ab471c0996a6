import { open } from "node:fs/promises";
import type { Marks } from "../core/store/store-marks.ts";
import { isTar } from "../lib/files/tar.ts";
import type { EpochHow } from "./begin-epoch.ts";
import { restoreFormerBackup } from "./former-backup.ts";
import { ARCHIVE_BEGINS } from "./model/export-lines.ts";
import type { Description } from "./model/members.ts";
import { type ReceiveHow, type ReceiveReport, receiveArchive } from "./receive-archive.ts";
import type { SnapshotSource } from "./store/moment.ts";

/** The report on a former backup has no rows: its database was copied as it was. */
export type RestoreReport = ReceiveReport | (Description & Marks);

const CHUNK = 1_048_576;

/**
 * An empty store holds what the archive or the former backup at `path` says, as a new epoch (spec/security 10.1), or is
 * as it was.
 *
 * @throws {Error} one sentence for the operator
 */
export async function restoreStore(
  path: string,
  place: SnapshotSource,
  how: Omit<ReceiveHow, "name" | "epoch"> & { epoch: EpochHow },
): Promise<RestoreReport> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new Error(`There is no file ${path}.`) : error;
  });
  try {
    const isFile = (await file.stat()).isFile();
    const begin = isFile ? (await file.read(Buffer.alloc(512), 0, 512, 0)).buffer : Buffer.alloc(0);
    if (isTar(begin)) {
      if (place.databaseUrl === undefined)
        return await restoreFormerBackup(file, { path, dataDir: place.dataDir }, how);
      throw new Error(
        `${path} is a backup of an older Parley, with a SQLite database: unset DATABASE_URL to restore it into a folder, and carry that to PostgreSQL with parley move.`,
      );
    }
    if (!begin.toString("latin1").startsWith(ARCHIVE_BEGINS)) {
      throw new Error(`${path} is not ${how.words.one} that parley ${how.words.noun} has made.`);
    }
    const chunks = file.createReadStream({ start: 0, highWaterMark: CHUNK, autoClose: false }) as AsyncIterable<Buffer>;
    return await receiveArchive(chunks, place, { ...how, name: path });
  } finally {
    await file.close();
  }
}
