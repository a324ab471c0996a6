import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Which process runs the server of a data folder, since when, in the kernel's count, and where it listens. */
export interface ServerProcess {
  pid: number;
  starttime: string | null;
  /** Where it listens. */
  url?: string;
  /** It can start another in its place. */
  replaceable?: boolean;
  /** It has taken another's place, or is about to, and answers no request yet. */
  starting?: boolean;
  /** How often it was to start another in its place, which then did not start. */
  failedReplacements?: number;
}

/** Beside the lock, which tells nobody who holds it. */
const FILE = "server.json";

/** The data folder says which process runs its server, until `forgetServerProcess`. */
export function noteServerProcess(dataDir: string, process: ServerProcess): void {
  const path = join(dataDir, FILE);
  // A concurrent reader finds the former text or this one, whole.
  const fresh = `${path}.${process.pid}.new`;
  // eslint-disable-next-line no-restricted-syntax -- it names a process, and none outlives a loss of power
  writeFileSync(fresh, `${JSON.stringify(process)}\n`, { mode: 0o600 });
  // eslint-disable-next-line no-restricted-syntax -- the same
  renameSync(fresh, path);
}

/** It says nothing of this process any more. */
export function forgetServerProcess(dataDir: string, { pid }: Pick<ServerProcess, "pid">): void {
  if (findServerProcess(dataDir)?.pid === pid) rmSync(join(dataDir, FILE), { force: true });
}

/** Returns the process that last noted itself; a server that was killed has left its note there. */
export function findServerProcess(dataDir: string): ServerProcess | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, FILE), "utf8")) as ServerProcess;
  } catch {
    return null;
  }
}
