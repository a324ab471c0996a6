/** Finds the test files, chooses some of them, and keeps how long each took when it last ran. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { SIZES, sizeOf } from "./test-size.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Seconds of each file's last run on this checkout; git does not keep it. */
const TIMES = join(ROOT, ".test-times.json");
const HOURS_OF_RECENT_WORK = 24;

/** Where Node keeps what it compiled for the tests and the processes they start. */
export const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "parley");

/** A test that hangs is named after this long, instead of holding everything up without a word. */
export const TEST_TIMEOUT_MS = 300_000;

/**
 * Returns the test files of these sizes whose path holds one of the words, all of them without a word. A word that is the
 * path of an existing file names that file alone, wherever it is and whatever its size.
 */
export function testFiles(words, sizes = SIZES) {
  const all = globSync("test/**/*.test.ts", {
    cwd: ROOT,
    exclude: ["test/proof/**", "test/agents/**", "test/site/**"],
  });
  const named = words.filter((word) => word.endsWith(".ts") && existsSync(word));
  const rest = words.filter((word) => !named.includes(word));
  const isChosen = (file) => (words.length === 0 ? true : rest.some((word) => file.includes(word)));
  const chosen = all.filter((file) => isChosen(file) && sizes.includes(sizeOf(file)));
  return [...new Set([...named.map((word) => relative(ROOT, word)), ...chosen])].sort();
}

/**
 * Returns the test files that are new or changed since `revision`, with what is not committed yet. Without a revision:
 * since this branch left the main one; on the main branch itself, since a day before its newest commit.
 */
export function changedTestFiles(revision = branchPoint()) {
  const changes = git("diff", "--name-status", "--find-renames", "--diff-filter=d", revision);
  // A file that was only renamed counts as unchanged.
  const changed = changes.flatMap((line) => (line.startsWith("R100") ? [] : line.split("\t").slice(-1)));
  changed.push(...git("ls-files", "--others", "--exclude-standard"));
  return testFiles([]).filter((file) => changed.includes(file));
}

function branchPoint() {
  const [head] = git("rev-parse", "HEAD");
  for (const main of ["origin/HEAD", "origin/main", "main"]) {
    const [base] = git("merge-base", "HEAD", main);
    if (base && base !== head) return base;
  }
  const [headTime = "0"] = git("log", "-1", "--format=%ct");
  const before = Number(headTime) - HOURS_OF_RECENT_WORK * 3600;
  return (
    git("rev-list", "-1", `--before=${before}`, "HEAD")[0] ?? git("rev-list", "--max-parents=0", "HEAD")[0] ?? "HEAD"
  );
}

/** The lines that git prints, none where it fails. */
function git(...args) {
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter(Boolean) : [];
}

/** Seconds that each file took when it last ran here, by path. */
export function readTimes() {
  try {
    return JSON.parse(readFileSync(TIMES, "utf8"));
  } catch {
    return {};
  }
}

/** Keeps the seconds of these files, beside those of the files that did not run; files outside the checkout have none. */
export function keepTimes(seconds) {
  const own = Object.entries(seconds).filter(([file]) => file.startsWith("test/"));
  if (own.length === 0) return;
  writeFileSync(TIMES, `${JSON.stringify({ ...readTimes(), ...Object.fromEntries(own) }, null, 1)}\n`);
}
