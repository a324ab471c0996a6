import { closeSync, existsSync, openSync, readdirSync } from "node:fs";
import { chmod, open, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FILE_MODE, FOLDER_MODE, LOCK_FILE, RESTORE_MARK } from "../core/store/data-dir.ts";
import { lockForServer } from "../core/store/server-lock.ts";
import { makeFolder, syncFolder, syncWhole, writeNewFile } from "../lib/durable-files.ts";
import { bytesOf, writeAll } from "../lib/tar.ts";
import { createHash } from "node:crypto";
import type { OpenBackup } from "./open-backup.ts";
import { RESTORED_NAMES } from "./model/members.ts";

/** What is in the folder until it is whole, beside what is restored. */
const OWN_NAMES = [LOCK_FILE, `${LOCK_FILE}-journal`, RESTORE_MARK];
/** What a file system itself puts into an empty folder. */
const NOBODYS = "lost+found";

/**
 * The folder holds what was backed up, on disk. Until it is whole a mark stands in it, with which no server starts and no
 * command opens the store; a restore that meets the mark of one that was killed removes what that one wrote, and begins
 * again. After any other failure the folder is as it was.
 *
 * @throws {Error} one sentence for the operator
 */
export async function restoreBackup(
  backup: OpenBackup,
  dataDir: string,
  how: { onProgress(line: string): void; signal: AbortSignal },
): Promise<void> {
  const isNew = !existsSync(dataDir);
  judgeFolder(dataDir);
  makeFolder(dataDir, FOLDER_MODE);
  await chmod(dataDir, FOLDER_MODE);
  const mark = join(dataDir, RESTORE_MARK);
  if (!existsSync(mark)) await writeNewFile(mark, "A backup is being restored into this folder.\n", FILE_MODE);
  const lock = lockFolder(dataDir);
  try {
    await clear(dataDir);
    await writeMembers(backup, dataDir, how);
    await syncWhole(dataDir);
    // point: restore-before-unmarked
  } catch (error) {
    await clear(dataDir);
    lock.release();
    for (const name of OWN_NAMES) await rm(join(dataDir, name), { force: true });
    if (isNew) await rmdir(dataDir);
    throw error;
  }
  lock.release();
  await rm(mark);
  syncFolder(dataDir);
}

/** @throws {Error} one sentence, unless the folder is empty, or to be made, or was left by a restore that was killed */
export function judgeFolder(dataDir: string): void {
  let names: string[];
  try {
    names = readdirSync(dataDir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    if (code === "ENOTDIR") throw new Error(`${dataDir} is no folder.`, { cause: error });
    throw error;
  }
  const ours = names.includes(RESTORE_MARK) ? [...RESTORED_NAMES, ...OWN_NAMES, NOBODYS] : [NOBODYS];
  if (names.every((name) => ours.includes(name))) return;
  throw new Error(`${dataDir} is not empty; name a folder that is, or that is not there yet, with --data-dir.`);
}

/** Nobody else restores into the folder meanwhile. */
function lockFolder(dataDir: string): { release(): void } {
  const path = join(dataDir, LOCK_FILE);
  closeSync(openSync(path, "a", FILE_MODE));
  try {
    return lockForServer(path);
  } catch (error) {
    throw new Error(`Another parley restore is at work in ${dataDir}.`, { cause: error });
  }
}

async function clear(dataDir: string): Promise<void> {
  for (const name of RESTORED_NAMES) await rm(join(dataDir, name), { recursive: true, force: true });
}

async function writeMembers(
  { file, members, bytes }: OpenBackup,
  dataDir: string,
  { onProgress, signal }: { onProgress(line: string): void; signal: AbortSignal },
): Promise<void> {
  let done = 0;
  for (const [name, member] of members) {
    // point: restore-before-member
    const path = join(dataDir, name);
    makeFolder(dirname(path), FOLDER_MODE);
    const out = await open(path, "wx", FILE_MODE);
    try {
      const hash = createHash("sha256");
      for await (const chunk of bytesOf(file, member)) {
        signal.throwIfAborted();
        hash.update(chunk);
        await writeAll(out, chunk);
        done += chunk.length;
        onProgress(`restoring: ${Math.floor((100 * done) / bytes)} %`);
      }
      if (hash.digest("hex") !== member.sha256) throw new Error(`${name} of the backup changed while it was read.`);
    } finally {
      await out.close();
    }
  }
}
