import { createReadStream } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { DATABASE_FILE, HIGHWATER_FILE } from "../core/store/data-dir.ts";
import { highwaterLine } from "../core/store/highwater.ts";
import { openTarWriter, type TarWriter } from "../lib/files/tar.ts";
import type { StoreSource } from "./export-store.ts";
import { makeNewFile } from "./make-new-file.ts";
import { openFitting, openTakenArtifacts, type TakenArtifacts, type Taking } from "./take-artifacts.ts";
import { ARTIFACTS_FOLDER, DESCRIPTION, FORMAT, printDescription, printSums, SUMS } from "./model/members.ts";
import { readFacts } from "./store/facts.ts";
import { openSnapshot, type Snapshot } from "./store/snapshot.ts";

export interface BackupHow extends Taking {
  /** The version of this program. */
  version: string;
}

export interface BackupReport {
  bytes: number;
  commitNo: number;
  artifacts: number;
  /** Artifacts whose files were not as they were kept before the backup began. */
  damaged: readonly string[];
}

/**
 * Writes everything that was acknowledged before the call into a new file, as of one moment, and syncs it; a server may
 * write meanwhile. Until then nothing is at `target`.
 *
 * @throws {Error} one sentence for the operator; nothing is left then
 */
export function writeBackup(target: string, source: StoreSource, how: BackupHow): Promise<BackupReport> {
  return makeNewFile(target, how.signal, (file, draft) => fill(file, { source, copy: `${draft}.db`, how }));
}

interface Filling {
  source: StoreSource;
  /** Where the database is copied to before it goes into the archive. */
  copy: string;
  how: BackupHow;
}

async function fill(file: FileHandle, { source, copy, how }: Filling): Promise<BackupReport> {
  const tar = openTarWriter(file, how.clock.now());
  const sums = new Map<string, string>();
  const add = async (name: string, bytes: Uint8Array) =>
    void sums.set(name, await tar.add(name, bytes.length, [bytes]));
  const path = join(source.dataDir, DATABASE_FILE);
  const taken = openTakenArtifacts(source.artifacts, tar, how);

  const schema = await takeAhead(path, source, taken, (schema) =>
    add(
      DESCRIPTION,
      Buffer.from(
        printDescription({
          format: FORMAT,
          parley: how.version,
          schema,
          madeAt: new Date(how.clock.now()).toISOString(),
          settingsLeftOut: source.settingsLeftOut,
        }),
      ),
    ),
  );
  const { snapshot, wanted, damaged } = await openFitting(
    { open: () => openSnapshot(path), files: join(source.dataDir, ARTIFACTS_FOLDER) },
    taken,
    how,
  );
  let commitNo: number;
  try {
    const facts = await factsOf(snapshot, source);
    if (facts.schema !== schema) throw new Error("The server was replaced by a newer one meanwhile; try again.");
    commitNo = facts.commitNo;
    for (const { name, bytes } of source.readBeside()) await add(name, bytes);
    await (await open(copy, "wx", 0o600)).close();
    await snapshot.copyTo(copy, (done, all) => {
      how.onProgress(`copying the database: ${Math.floor((100 * done) / all)} %`);
    });
  } finally {
    snapshot.close();
  }
  for (const [name, sha256] of wanted) sums.set(name, sha256);
  await add(HIGHWATER_FILE, Buffer.from(highwaterLine(commitNo)));
  // point: backup-before-database
  sums.set(DATABASE_FILE, await addDatabase(tar, copy, how));
  const text = Buffer.from(printSums(sums));
  await tar.add(SUMS, text.length, [text]);
  await tar.end();
  return { bytes: (await file.stat()).size, commitNo, artifacts: wanted.size, damaged };
}

/**
 * Takes the files of jobs that there are now, while no snapshot is open, so that only those that change meanwhile are
 * left for later. Returns the schema.
 */
async function takeAhead(
  path: string,
  source: StoreSource,
  taken: TakenArtifacts,
  describe: (schema: number) => Promise<void>,
): Promise<number> {
  const snapshot = openSnapshot(path);
  let schema: number;
  let rows;
  try {
    ({ schema } = await factsOf(snapshot, source));
    rows = await taken.rowsOf(snapshot);
  } finally {
    snapshot.close();
  }
  await describe(schema);
  await taken.take(rows);
  return schema;
}

async function factsOf(snapshot: Snapshot, { dataDir, keyring, keyFile }: StoreSource) {
  const facts = await readFacts(snapshot);
  if (!facts) throw new Error(`There is no Parley database in ${dataDir}.`);
  try {
    if (facts.sealed) keyring.open(facts.sealed.sealed, facts.sealed.name);
  } catch {
    throw new Error(
      `${keyFile} is not the installation key of this database, which would be worth little without it; name that one with PARLEY_KEY_FILE.`,
    );
  }
  return facts;
}

async function addDatabase(tar: TarWriter, copy: string, { onProgress, signal }: BackupHow): Promise<string> {
  const { size } = await stat(copy);
  let done = 0;
  async function* chunks() {
    for await (const chunk of createReadStream(copy, { highWaterMark: 1_048_576 }) as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      yield chunk;
      done += chunk.length;
      onProgress(`writing the database: ${Math.floor((100 * done) / size)} %`);
    }
  }
  return tar.add(DATABASE_FILE, size, chunks());
}
