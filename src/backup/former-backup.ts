/** The backups that Parley 0.2 made: a tar of the data directory, with a copy of the SQLite database. */
import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FILE_MODE, FOLDER_MODE } from "../core/store/data-dir.ts";
import { SCHEMA_NUMBER } from "../core/store/migrate.ts";
import type { Marks } from "../core/store/store-marks.ts";
import { makeFolder, writeAll } from "../lib/files/durable-files.ts";
import { VERSION } from "../lib/version.ts";
import { beginEpoch, type EpochHow } from "./begin-epoch.ts";
import { fillFolder } from "./fill-folder.ts";
import { bytesOf, type TarEntry, NotTar, readTar } from "../lib/files/tar.ts";
import {
  ARTIFACTS_FOLDER,
  DESCRIPTION,
  type Description,
  FORMAT,
  isRestored,
  missingFrom,
  readDescription,
  readSums,
  SUMS,
} from "./model/members.ts";
import { upgradeSqlite } from "./store/receive-rows.ts";

type Member = TarEntry & { sha256: string };

interface FormerHow {
  onProgress(line: string): void;
  signal: AbortSignal;
  epoch: EpochHow;
}

/** More than the digests of a million files take. */
const LONGEST_TEXT = 512 * 1_048_576;

/**
 * Reads the backup once from end to end and compares its digests; then the folder holds what was backed up as a new
 * epoch, on disk and with this program's schema, or is as it was (`fillFolder`).
 *
 * @throws {Error} one sentence for the operator: the file is not a backup, or is damaged, or a newer program made it
 */
export async function restoreFormerBackup(
  file: FileHandle,
  { path, dataDir }: { path: string; dataDir: string },
  how: FormerHow,
): Promise<Description & Marks> {
  try {
    const description = await describe(file, path);
    judgeVersion(description);
    const members = await readMembers(file, path, how);
    let marks: Marks | undefined;
    await fillFolder(dataDir, async () => {
      await writeMembers(members, { file, dataDir, how });
      marks = await upgradeSqlite(dataDir, (on) => beginEpoch(on, { madeAt: description.madeAt }, how.epoch));
    });
    if (!marks) throw new Error("nothing was restored");
    return { ...description, ...marks };
  } catch (error) {
    if (error instanceof NotTar) throw damaged(path, error.message);
    throw error;
  }
}

const damaged = (path: string, why: string) =>
  new Error(`${path} is damaged (${why}); nothing was restored from it. Take another backup.`);

async function describe(file: FileHandle, path: string): Promise<Description> {
  const notOne = new Error(`${path} is not a backup that parley backup has made.`);
  if (!(await file.stat()).isFile()) throw notOne;
  try {
    for await (const member of readTar(file)) {
      const description =
        member.name === DESCRIPTION && member.size < 1_048_576
          ? readDescription((await textOf(file, member)).toString("utf8"))
          : null;
      if (description) return description;
      break;
    }
  } catch (error) {
    if (!(error instanceof NotTar)) throw error;
  }
  throw notOne;
}

function judgeVersion({ format, schema, parley }: Description): void {
  if (format <= FORMAT && schema <= SCHEMA_NUMBER) return;
  throw new Error(
    `The backup was made by a newer Parley (${parley}, schema ${schema}) than this one (${VERSION}, schema ${SCHEMA_NUMBER}); restore it with that one.`,
  );
}

async function readMembers(
  file: FileHandle,
  path: string,
  { onProgress, signal }: FormerHow,
): Promise<Map<string, Member>> {
  const { size: length } = await file.stat();
  const found = new Map<string, Member>();
  let sums: Map<string, string> | null = null;
  for await (const member of readTar(file)) {
    if (sums) throw damaged(path, "something follows its end");
    if (member.name === SUMS) {
      sums = readSums((await textOf(file, member)).toString("utf8"));
      if (!sums) throw damaged(path, "its digests cannot be read");
      continue;
    }
    const hash = createHash("sha256");
    for await (const chunk of bytesOf(file, member)) {
      signal.throwIfAborted();
      hash.update(chunk);
    }
    onProgress(`checking the backup: ${Math.floor((100 * (member.at + member.size)) / length)} %`);
    // A file that was replaced while the backup was made is in it more than once: the last one counts.
    found.set(member.name, { ...member, sha256: hash.digest("hex") });
  }
  if (!sums) throw damaged(path, "it is cut off");
  return judgeMembers(path, found, sums);
}

function judgeMembers(
  path: string,
  found: ReadonlyMap<string, Member>,
  sums: ReadonlyMap<string, string>,
): Map<string, Member> {
  const members = new Map<string, Member>();
  for (const [name, sha256] of sums) {
    const member = found.get(name);
    if (member?.sha256 !== sha256) throw damaged(path, `${name} is not what was backed up`);
    if (name === DESCRIPTION) continue;
    if (!isRestored(name)) throw damaged(path, `${name} belongs in no backup`);
    members.set(name, member);
  }
  // A file of a job that went while the backup was made is in no list, and stays behind.
  const unknown = [...found.keys()].find((name) => !sums.has(name) && !name.startsWith(`${ARTIFACTS_FOLDER}/`));
  const lacking = unknown === undefined ? missingFrom(new Set(members.keys())) : `${unknown} has no digest`;
  if (lacking !== null) throw damaged(path, lacking);
  return members;
}

async function textOf(file: FileHandle, member: TarEntry): Promise<Buffer> {
  if (member.size > LONGEST_TEXT) throw new NotTar("its digests are too long");
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(file, member)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function writeMembers(
  members: ReadonlyMap<string, Member>,
  { file, dataDir, how }: { file: FileHandle; dataDir: string; how: FormerHow },
): Promise<void> {
  for (const [name, member] of members) {
    how.signal.throwIfAborted();
    how.onProgress(`restoring: ${name}`);
    // point: restore-before-member
    const path = join(dataDir, name);
    makeFolder(dirname(path), FOLDER_MODE);
    const out = await open(path, "wx", FILE_MODE);
    try {
      const hash = createHash("sha256");
      for await (const chunk of bytesOf(file, member)) {
        hash.update(chunk);
        await writeAll(out, chunk);
      }
      if (hash.digest("hex") !== member.sha256) throw new Error(`${name} of the backup changed while it was read.`);
    } finally {
      await out.close();
    }
  }
}
