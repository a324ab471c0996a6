/** Files in memory: a sync of them costs nothing, and most of what tests wait for on a disk is a sync. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

/** Where Linux keeps files in memory, and how much of it must be free for tests to have theirs there. */
const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1024 ** 3;

/** A folder in memory. */
export interface MemoryFolder {
  path: string;
  /** The folder is gone. */
  remove(): Promise<void>;
}

/** Where files are in memory, if this system has such a place and there is room in it; null otherwise. */
export function memory(): string | null {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) > ROOM_BYTES ? MEMORY : null;
  } catch {
    return null;
  }
}

/**
 * Makes a folder in memory for temporary files; null where there is no room for it, or where no program may be started
 * from such a folder. It goes with `remove` or with this process, however this process ends: a small shell holds the
 * other end of a pipe, and clears up when the pipe closes.
 */
export function openMemoryFolder(): MemoryFolder | null {
  const place = memory();
  if (place === null) return null;
  // The path is short because paths of sockets, which stand in it, have a limit of about a hundred bytes.
  const path = mkdtempSync(join(place, "parley-"));
  // The mode is that of the system's own folder, because programs that tests start as another user have files in it,
  // too.
  chmodSync(path, 0o1777);
  const program = join(path, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  const isStarted = spawnSync(program).status === 0;
  rmSync(isStarted ? program : path, { recursive: true });
  if (!isStarted) return null;
  const keeper = spawn("/bin/sh", ["-c", 'cat; rm -rf "$0"', path], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  keeper.unref();
  const gone = once(keeper, "exit");
  return {
    path,
    async remove() {
      keeper.ref();
      keeper.stdin.end();
      await gone;
    },
  };
}
