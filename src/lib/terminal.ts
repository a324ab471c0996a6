import { closeSync, openSync } from "node:fs";

/** Returns whether this process belongs to a terminal, where a person may sit; Windows is taken to have one. */
export function hasTerminal(): boolean {
  if (process.platform === "win32") return true;
  try {
    closeSync(openSync("/dev/tty", "r+"));
    return true;
  } catch {
    return false;
  }
}
