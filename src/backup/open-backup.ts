import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
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

/** A backup whose every byte that counts was compared with its digest. */
export interface OpenBackup {
  description: Description;
  /** The members that go into the folder, by their names there. */
  members: ReadonlyMap<string, TarEntry & { sha256: string }>;
  /** The size of all members together. */
  bytes: number;
  file: FileHandle;
}

/** The program that reads a backup: its schema and version, and how it reports progress and stops. */
interface Reader {
  schema: number;
  version: string;
  onProgress(line: string): void;
  signal: AbortSignal;
}

/** More than the digests of a million files take. */
const LONGEST_TEXT = 512 * 1_048_576;

/**
 * Opens a backup and reads it once from end to end. The caller closes its file.
 *
 * @throws {Error} one sentence for the operator: the file is not a backup, or is damaged, or a newer program made it
 */
export async function openBackup(path: string, reader: Reader): Promise<OpenBackup> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new Error(`There is no file ${path}.`) : error;
  });
  try {
    const description = await describe(file, path);
    judgeVersion(description, reader);
    const found = await readMembers(file, path, reader);
    return { file, description, ...found };
  } catch (error) {
    await file.close();
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

function judgeVersion({ format, schema, parley }: Description, reader: Reader): void {
  if (format <= FORMAT && schema <= reader.schema) return;
  throw new Error(
    `The backup was made by a newer Parley (${parley}, schema ${schema}) than this one (${reader.version}, schema ${reader.schema}); restore it with that one.`,
  );
}

async function readMembers(
  file: FileHandle,
  path: string,
  { onProgress, signal }: Reader,
): Promise<Pick<OpenBackup, "members" | "bytes">> {
  const { size: length } = await file.stat();
  const found = new Map<string, TarEntry & { sha256: string }>();
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
  found: ReadonlyMap<string, TarEntry & { sha256: string }>,
  sums: ReadonlyMap<string, string>,
): Pick<OpenBackup, "members" | "bytes"> {
  const members = new Map<string, TarEntry & { sha256: string }>();
  let bytes = 0;
  for (const [name, sha256] of sums) {
    const member = found.get(name);
    if (member?.sha256 !== sha256) throw damaged(path, `${name} is not what was backed up`);
    if (name === DESCRIPTION) continue;
    if (!isRestored(name)) throw damaged(path, `${name} belongs in no backup`);
    members.set(name, member);
    bytes += member.size;
  }
  // A file of a job that went while the backup was made is in no list, and stays behind.
  const unknown = [...found.keys()].find((name) => !sums.has(name) && !name.startsWith(`${ARTIFACTS_FOLDER}/`));
  const lacking = unknown === undefined ? missingFrom(new Set(members.keys())) : `${unknown} has no digest`;
  if (lacking !== null) throw damaged(path, lacking);
  return { members, bytes };
}

async function textOf(file: FileHandle, member: TarEntry): Promise<Buffer> {
  if (member.size > LONGEST_TEXT) throw new NotTar("its digests are too long");
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(file, member)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
