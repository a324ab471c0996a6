import { userInfo } from "node:os";

/** Returns as which user of the system this process runs: the name, or the number of one that the system has no name for. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under any number, whether or not its system knows it.
    return String(process.getuid?.() ?? "unknown");
  }
}
