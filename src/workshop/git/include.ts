import { constants } from "node:fs";
import { copyFile, lstat, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { at, sentences } from "./listing.ts";
import type { Repository } from "./repository.ts";
import { git, GitFailure } from "./run.ts";

/** In a checkout: patterns, as in `.gitignore`, of untracked files that every tree gets, such as `.env`. */
const PATTERNS = ".worktreeinclude";
const MOST_PATTERN_BYTES = 64 * 1024;
const MOST_BYTES = 100 * 1024 ** 2;
const TIMEOUT_MS = 120_000;

export interface IncludeInput {
  /** The user's checkout, which is only read. */
  from: string;
  /** A tree that no agent has had yet. */
  to: string;
  start: string;
}

/**
 * Files that the start commit does not have, and that `.worktreeinclude` of the checkout names, are in the tree as well.
 * Links are not copied and not followed, on neither side; nothing that the start commit has is replaced.
 */
export async function copyIncluded(
  repo: Repository,
  { from, to, start }: IncludeInput,
): Promise<{ copied: number; warnings: string[] }> {
  const patterns = join(from, PATTERNS);
  const found = await lstat(patterns).catch(() => null);
  if (!found) return { copied: 0, warnings: [] };
  if (!found.isFile() || found.size > MOST_PATTERN_BYTES) {
    return { copied: 0, warnings: [`${PATTERNS} was not read: it is no ordinary file, or too long.`] };
  }
  const paths = await namedBy(repo, { patterns, from, start, indexFile: `${to}.index` });
  if (paths === null) return { copied: 0, warnings: [`${PATTERNS} was not obeyed: git could not find the files.`] };

  const [links, left]: [string[], string[]] = [[], []];
  let bytes = 0;
  let copied = 0;
  for (const path of paths) {
    const file = await lstat(at(from, path)).catch(() => null);
    if (!file?.isFile()) {
      links.push(path);
    } else if (bytes + file.size > MOST_BYTES || !(await copyOne(from, to, path))) {
      left.push(path);
    } else {
      bytes += file.size;
      copied += 1;
    }
  }
  const warnings = [
    ...sentences(`is named in ${PATTERNS} and was not copied: only files are`, links),
    ...sentences(`is named in ${PATTERNS} and was not copied: it is in the way of something, or too much`, left),
  ];
  return { copied, warnings };
}

/** The index is one of the start commit, so that the user's own is not even read. */
async function namedBy(
  repo: Repository,
  { patterns, from, start, indexFile }: { patterns: string; from: string; start: string; indexFile: string },
): Promise<string[] | null> {
  const call = { gitDir: repo.store, workTree: from, indexFile, config: ["core.bare=false"], timeoutMs: TIMEOUT_MS };
  try {
    await rm(`${indexFile}.lock`, { force: true });
    await git(["read-tree", start], call);
    const { stdout } = await git(["ls-files", "-z", "--others", "--ignored", `--exclude-from=${patterns}`], call);
    return stdout
      .toString("latin1")
      .split("\0")
      .filter((path) => path !== "" && !path.endsWith("/"));
  } catch (error) {
    if (error instanceof GitFailure) return null;
    throw error;
  } finally {
    await rm(indexFile, { force: true });
  }
}

/** Returns whether the file has a place in the tree: no link leads there, and nothing stood there. */
async function copyOne(from: string, to: string, path: string): Promise<boolean> {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    const folder = at(to, path.slice(0, end));
    await mkdir(folder, { mode: 0o700 }).catch(() => undefined);
    if (!(await lstat(folder)).isDirectory()) return false;
  }
  try {
    // eslint-disable-next-line no-restricted-syntax -- a copy of what stands in the checkout; it is never committed
    await copyFile(at(from, path), at(to, path), constants.COPYFILE_EXCL);
    return true;
  } catch {
    return false;
  }
}
