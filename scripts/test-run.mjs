/** Runs test files by Node's test runner, once, and returns what became of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toBatches, writeBatches } from "./test-batches.mjs";
import { readTimes, TEST_TIMEOUT_MS } from "./test-files.mjs";

const REPORTER = fileURLToPath(new URL("test-reporter.mjs", import.meta.url));
const FILE_END = new URL("test-file-end.mjs", import.meta.url).href;

/**
 * Runs these files, several in each process, with Node's options. With `keepsOutput` what they print is returned as
 * `output` instead of being shown.
 *
 * Returns `{ code, counts, seconds, failures, output }`: the exit code as a shell has it, how many tests passed, failed
 * and were skipped, the seconds of each file, and each failure as `{ files, names, text, again }`.
 */
export async function runTests(files, { env, options = [], keepsOutput = false }) {
  const folder = mkdtempSync(join(env.TMPDIR ?? tmpdir(), "parley-run-"));
  const report = join(folder, "report.json");
  const batches = batchesOf(files, { options, folder });
  const reporting = options.some((option) => option.startsWith("--test-reporter"))
    ? []
    : [`--test-reporter=${REPORTER}`, "--test-reporter-destination=stdout"];
  const runner = spawn(
    process.execPath,
    [
      "--test",
      `--test-concurrency=${availableParallelism()}`,
      `--test-timeout=${TEST_TIMEOUT_MS}`,
      `--import=${FILE_END}`,
      ...reporting,
      ...options,
      ...Object.keys(batches),
    ],
    {
      stdio: keepsOutput ? ["ignore", "pipe", "pipe"] : "inherit",
      env: { ...env, TEST_BATCHES: JSON.stringify(batches), TEST_REPORT: report },
    },
  );
  let output = "";
  for (const stream of [runner.stdout, runner.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => (output += text));
  }
  const pass = (signal) => runner.kill(signal);
  // Ctrl-C reaches the runner by itself; this process stays to see it end.
  const ignore = () => {};
  process.on("SIGINT", ignore).on("SIGTERM", pass).on("SIGHUP", pass);
  const [code, signal] = await once(runner, "close");
  process.off("SIGINT", ignore).off("SIGTERM", pass).off("SIGHUP", pass);
  const told = readReport(report);
  rmSync(folder, { recursive: true, force: true });
  return { code: code ?? (signal === "SIGINT" ? 130 : 1), ...told, output };
}

/** The files of each process, by the path of the module with which it begins. */
function batchesOf(files, { options, folder }) {
  // A pattern is held against a test's whole name, which begins with its file's where several share a process.
  const isByName = options.some((option) => /^--(test-(name|skip)-pattern|test-only|watch|inspect)/.test(option));
  if (files.length > 1 && !isByName) return writeBatches(toBatches(files, readTimes()), folder);
  return Object.fromEntries(files.map((file) => [file, [file]]));
}

/** The report is missing where the runner was ended, or where somebody chose a reporter of Node's. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return { counts: null, seconds: {}, failures: [] };
  }
}
