import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Returns the size of a folder in bytes, without following links; null if the folder does not exist. */
export async function folderBytes(path: string): Promise<number | null> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => null);
  if (entries === null) return null;
  let bytes = 0;
  for (const entry of entries) {
    const at = join(path, entry.name);
    bytes += entry.isDirectory() ? ((await folderBytes(at)) ?? 0) : ((await lstat(at).catch(() => null))?.size ?? 0);
  }
  return bytes;
}
