import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, starttimeOf } from "../sandbox/processes.ts";

/** A process that owns an attempt's folder. */
export interface Claim {
  pid: number;
  starttime: string | null;
}

const pathOf = (folder: string): string => join(folder, "supervisor.lock");

/**
 * Returns whether this process now owns the attempt's folder: it does unless another that lives does. A server that died
 * as it started a supervisor may start a second one before the first has come up.
 */
export function claimFolder(folder: string): boolean {
  const own: Claim = { pid: process.pid, starttime: starttimeOf(process.pid) };
  for (;;) {
    try {
      // eslint-disable-next-line no-restricted-syntax -- it names a process, and none outlives a loss of power
      writeFileSync(pathOf(folder), JSON.stringify(own), { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (claimOf(folder) !== null) return false;
    rmSync(pathOf(folder), { force: true });
  }
}

/** Returns the running process that owns the folder; null if no running process owns it. */
export function claimOf(folder: string): Claim | null {
  try {
    const claim = JSON.parse(readFileSync(pathOf(folder), "utf8")) as Claim;
    return isAlive(claim.pid, claim.starttime) ? claim : null;
  } catch {
    return null;
  }
}
