import { statSync } from "node:fs";

/**
 * Returns what tells whether each of these paths still leads to the file that it leads to now: a file that is open goes on
 * to be written after it was deleted, and nobody finds it again.
 */
export function watchFiles(paths: readonly string[]): () => boolean {
  const before = paths.map(identify);
  return () => paths.every((path, i) => identify(path) === before[i]);
}

function identify(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : null;
}
