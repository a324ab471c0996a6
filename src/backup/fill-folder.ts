import { closeSync, existsSync, openSync, readdirSync } from "node:fs";
import { chmod, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { FILE_MODE, FOLDER_MODE, LOCK_FILE, RESTORE_MARK } from "../core/store/data-dir.ts";
import { lockForServer } from "../core/store/server-lock.ts";
import { makeFolder, syncFolder, syncWhole, writeNewFile } from "../lib/files/durable-files.ts";
import { RESTORED_NAMES } from "./model/members.ts";

/** The names that the folder holds beside the restored ones, until it is whole. */
const OWN_NAMES = [LOCK_FILE, `${LOCK_FILE}-journal`, RESTORE_MARK];
/** The name that a file system itself puts into an empty folder. */
const NOBODYS = "lost+found";

/**
 * The folder holds what `write` has put there, on disk, and `commit` is done. Until then a mark stands in it, with which
 * no server starts and no command opens the store; a restore, an import or a move that meets the mark of one that was
 * killed removes what that one wrote, and begins again. After any other failure the folder is as it was.
 *
 * @throws {Error} one sentence for the operator
 */
export async function fillFolder(
  dataDir: string,
  write: () => Promise<void>,
  commit: (wasUnfinished: boolean) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const isNew = !existsSync(dataDir);
  judgeFolder(dataDir);
  makeFolder(dataDir, FOLDER_MODE);
  await chmod(dataDir, FOLDER_MODE);
  const mark = join(dataDir, RESTORE_MARK);
  const wasUnfinished = existsSync(mark);
  if (!wasUnfinished) await writeNewFile(mark, "What is written into this folder is not whole yet.\n", FILE_MODE);
  const lock = lockFolder(dataDir);
  try {
    await clear(dataDir);
    await write();
    await syncWhole(dataDir);
    await commit(wasUnfinished);
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

/** @throws {Error} one sentence, unless the folder is empty, or to be made, or was left by a restore, an import or a move that was killed */
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

/** Locks the folder, so that nobody else writes into it meanwhile. */
function lockFolder(dataDir: string): { release(): void } {
  const path = join(dataDir, LOCK_FILE);
  closeSync(openSync(path, "a", FILE_MODE));
  try {
    return lockForServer(path);
  } catch (error) {
    throw new Error(`Another parley restore, import or move is at work in ${dataDir}.`, { cause: error });
  }
}

async function clear(dataDir: string): Promise<void> {
  for (const name of RESTORED_NAMES) await rm(join(dataDir, name), { recursive: true, force: true });
}
