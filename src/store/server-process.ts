import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Which process runs the server of a data folder, and since when, in the kernel's count. */
export interface ServerProcess {
  pid: number;
  starttime: string | null;
}

/** Beside the lock, which tells nobody who holds it. */
const FILE = "server.json";

/** The data folder says which process runs its server, until `forgetServerProcess`. */
export function noteServerProcess(dataDir: string, process: ServerProcess): void {
  writeFileSync(join(dataDir, FILE), `${JSON.stringify(process)}\n`, { mode: 0o600 });
}

/** It says nothing of this process any more. */
export function forgetServerProcess(dataDir: string, { pid }: Pick<ServerProcess, "pid">): void {
  if (findServerProcess(dataDir)?.pid === pid) rmSync(join(dataDir, FILE), { force: true });
}

/** Returns the process that last said so; a server that was killed has left it there. */
export function findServerProcess(dataDir: string): ServerProcess | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, FILE), "utf8")) as ServerProcess;
  } catch {
    return null;
  }
}
