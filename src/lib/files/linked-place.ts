import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const MOST_LINKS = 40;

/**
 * Returns where the file of a path is, or would be made: behind all links, those to nothing too.
 *
 * @throws {Error} in one sentence, where links lead in a circle
 */
export function linkedPlace(path: string): string {
  return placeBehind(resolve(path), MOST_LINKS);
}

function placeBehind(path: string, linksLeft: number): string {
  if (linksLeft === 0) throw new Error(`${path} is a link that leads to itself`);
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOOP") {
      throw new Error(`${path} is a link that leads to itself`, { cause: error });
    }
  }
  if (dirname(path) === path) return path;
  const folder = placeBehind(dirname(path), linksLeft);
  const here = join(folder, basename(path));
  const target = targetOf(here);
  return target === null ? here : placeBehind(resolve(folder, target), linksLeft - 1);
}

function targetOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
