import { existsSync } from "node:fs";
import { open, readdir, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { placeNewFile } from "../lib/files/durable-files.ts";

/**
 * Writes a new file with `fill`, and syncs it; until then nothing is at `target`.
 *
 * @throws {Error} one sentence for the operator; nothing is left then
 */
export async function makeNewFile<T>(
  target: string,
  signal: AbortSignal,
  fill: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const isThere = () => new Error(`${target} is there already; name a file that is not.`);
  if (existsSync(target)) throw isThere();
  if (!existsSync(dirname(target))) throw new Error(`There is no folder ${dirname(target)}.`);
  await removeLeftovers(target);
  const draft = `${target}.${process.pid}.new`;
  try {
    const file = await open(draft, "wx", 0o600);
    let made: T;
    try {
      made = await fill(file);
      await file.sync();
    } finally {
      await file.close();
    }
    signal.throwIfAborted();
    // point: backup-before-placed
    await placeNewFile(draft, target);
    return made;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST" ? isThere() : error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Deletes the drafts that a killed command has left beside a file of this name; a backup of 0.2 also left a database. */
async function removeLeftovers(target: string): Promise<void> {
  for (const name of await readdir(dirname(target))) {
    if (!name.startsWith(`${basename(target)}.`)) continue;
    const [, pid] = /^\.(\d+)\.new(\.db(-journal)?)?$/.exec(name.slice(basename(target).length)) ?? [];
    if (pid !== undefined && !isOther(Number(pid))) await rm(join(dirname(target), name), { force: true });
  }
}

/** Whether another process of this id runs. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
