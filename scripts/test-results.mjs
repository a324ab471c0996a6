/** The file `.test-results.json`: how the last runs of tests and checks on this checkout ended, the newest first. */
import { spawnSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const RESULTS = ".test-results.json";
/** Tests of the runs themselves have a file of their own. */
const OWN = process.env.TEST_RESULTS ?? join(ROOT, RESULTS);
const KEPT = 50;

/** Returns the results of a checkout, the newest first; none where there is no file. */
export function readResults(folder) {
  try {
    return JSON.parse(readFileSync(folder === undefined ? OWN : join(folder, RESULTS), "utf8"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return [];
  }
}

/**
 * Adds results to this checkout's file. Each is `{ command, commit, changed, start, minutes, passed, ... }`: the whole
 * commit, whether files differed from it, when it began (ISO 8601), and whether it passed.
 */
export function addResults(...results) {
  const kept = [...results, ...readResults()].slice(0, KEPT);
  // Two runs may end together: each leaves a whole file.
  writeFileSync(`${OWN}.${process.pid}`, `${JSON.stringify(kept, null, 1)}\n`);
  renameSync(`${OWN}.${process.pid}`, OWN);
}

/** Begins a result; `end` returns it with the minutes that it took. Outside a repository of git it has no commit. */
export function beginResult(command) {
  const startMs = Date.now();
  const begun = {
    command,
    commit: git("rev-parse", "HEAD"),
    changed: git("status", "--porcelain") !== "",
    start: new Date(startMs).toISOString(),
  };
  return {
    end: (rest) => ({ ...begun, minutes: Math.round((Date.now() - startMs) / 600) / 100, ...rest }),
  };
}

function git(...args) {
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}
