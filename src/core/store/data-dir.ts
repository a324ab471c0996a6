import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  statfsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { makeFolder, syncFolder } from "../../lib/files/durable-files.ts";

export const DATABASE_FILE = "parley.db";
export const LOCK_FILE = "parley.lock";
export const HIGHWATER_FILE = "highwater";
/** Stands in a folder while a backup is restored, an export imported or a store moved into it: what is there is not whole. */
export const RESTORE_MARK = "restore-unfinished";
/** The mode of the folder and of what is in it: its owner's alone. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

const OURS = [
  DATABASE_FILE,
  `${DATABASE_FILE}-wal`,
  `${DATABASE_FILE}-shm`,
  LOCK_FILE,
  HIGHWATER_FILE,
  "installation.key",
  "installation.key.next",
  "parley.yaml",
  "server.json",
];
const STICKY = 0o1000;

/**
 * The file systems whose locks or syncs cannot be relied on, by the type that statfs returns. 9p is left out: small
 * machines boot from it.
 */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xff534d42: "CIFS",
  0xfe534d42: "SMB",
  0x564c: "NCP",
  0x5346414f: "AFS",
  0x73757245: "Coda",
  0x00c36400: "Ceph",
  0x0bd00bd0: "Lustre",
  0x19830326: "BeeGFS",
  0x47504653: "GPFS",
  0x01161970: "GFS2",
  0x7461636f: "OCFS2",
};

/**
 * The data directory exists, is the owner's alone and can be written; the files that the engine opens are there, if
 * only empty, so that what it puts beside them gets their mode.
 *
 * Returns a line for every mode that had to be corrected. A folder that holds other things is refused rather than
 * closed to its other users.
 *
 * @throws {Error} one sentence for the operator
 */
export function prepareDataDir(path: string): string[] {
  const sentence = (reason: string) =>
    new Error(
      `The data directory ${path} cannot be used: ${reason}; choose another with --data-dir or PARLEY_DATA_DIR.`,
    );
  try {
    makeFolder(path, FOLDER_MODE);
    refuseUnfinished(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const network = process.platform === "linux" ? networkFileSystem(statfsSync(path).type) : null;
    if (network) throw sentence(`it is on a network file system (${network}), where SQLite can lose data`);
    const notes = correctMode(path, FOLDER_MODE, () => refuseForeignFolder(path, sentence));

    for (const name of [DATABASE_FILE, LOCK_FILE]) {
      if (!existsSync(join(path, name))) closeSync(openSync(join(path, name), "a", FILE_MODE));
    }
    // point: first-start-files-made
    syncFolder(path);
    for (const name of OURS) {
      if (existsSync(join(path, name))) notes.push(...correctMode(join(path, name), FILE_MODE));
    }
    return notes;
  } catch (error) {
    const reason = REASONS[codeOf(error)];
    throw reason ? sentence(reason) : error;
  }
}

/** @throws {Error} one sentence for the operator, when what is written into this folder is not whole, because that is under way or was killed */
export function refuseUnfinished(dataDir: string): void {
  if (!existsSync(join(dataDir, RESTORE_MARK))) return;
  throw new Error(
    `What parley restore, import or move writes into ${dataDir} is not finished: wait for it, or, if it was ended, run the same command again.`,
  );
}

/** Returns the name of the network file system that statfs gives this number, or null for a disk. */
export function networkFileSystem(type: number): string | null {
  return NETWORK_FILE_SYSTEMS[type] ?? null;
}

function correctMode(path: string, mode: number, before: () => void = () => {}): string[] {
  const found = statSync(path).mode & 0o777;
  if (found === mode) return [];
  before();
  const octal = (bits: number) => bits.toString(8).padStart(3, "0");
  try {
    chmodSync(path, mode);
    return [`${path} had mode ${octal(found)}; corrected to ${octal(mode)}.`];
  } catch (error) {
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "EROFS") throw error;
    return [`${path} has mode ${octal(found)} and belongs to somebody else; its owner should set ${octal(mode)}.`];
  }
}

function refuseForeignFolder(path: string, sentence: (reason: string) => Error): void {
  if (statSync(path).mode & STICKY) throw sentence("it is a folder shared by all users");
  const names = readdirSync(path).filter((name) => !name.startsWith(".") && name !== "lost+found");
  if (names.length > 0 && !names.some((name) => OURS.includes(name))) throw sentence("it holds other files");
}

/** Why a file cannot be used, by the code of the error. */
export const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "it is on a read-only disk",
  ENOSPC: "the disk is full",
  ENOTDIR: "part of its path is a file",
  EEXIST: "there is a file of that name",
  ENOENT: "it cannot be created",
  ELOOP: "its path is a circle of links",
  EISDIR: "there is a folder of that name",
};

/** Returns the code of a file system's error; empty where the error has no code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
