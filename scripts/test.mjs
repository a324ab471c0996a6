/**
 * Runs the tests with a real PostgreSQL beside them, and ends as Node's test runner ends.
 *
 * `npm test -- quorum --test-name-pattern=offline`: words choose the files whose path holds one of them, options go
 * to Node. With `--all` nothing that tests need may be missing but what comes from PyPI (test/support/parts.ts).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { sayMissing } from "./bring-parts.mjs";
import { toBatches, writeBatches } from "./test-batches.mjs";
import { openTestEnvironment } from "./test-environment.mjs";
import { readTimes, testFiles, TEST_TIMEOUT_MS } from "./test-files.mjs";

/** A browser and a database work beside each file; more files at once than this only take turns. */
const FILES_AT_ONCE = 2;
const REPORTER = fileURLToPath(new URL("test-reporter.mjs", import.meta.url));
const FILE_END = new URL("test-file-end.mjs", import.meta.url).href;

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith("-") && arg !== "--all");
const words = args.filter((arg) => !arg.startsWith("-"));
const files = testFiles(words);

if (files.length === 0) {
  console.error(`No test file has ${words.map((word) => `"${word}"`).join(" or ")} in its path.`);
  process.exit(2);
}
const reporting = options.some((option) => option.startsWith("--test-reporter"))
  ? []
  : [`--test-reporter=${REPORTER}`, "--test-reporter-destination=stdout"];

const { env, missing, stop } = await openTestEnvironment();
const insisted = missing.filter(({ part }) => part.isInsistedOn);
if (args.includes("--all") && insisted.length > 0) {
  console.error(`With --all nothing may be missing. ${sayMissing(insisted)}`);
  await stop();
  process.exit(2);
}
// A pattern is held against a test's whole name, which begins with its file's where several share a process.
const isByName = options.some((option) => /^--(test-(name|skip)-pattern|test-only|watch|inspect)/.test(option));
const isTogether = files.length > 1 && !isByName;
const batches = isTogether
  ? writeBatches(toBatches(files, readTimes()), env.TMPDIR ?? tmpdir())
  : { byPath: Object.fromEntries(files.map((file) => [file, [file]])), remove() {} };
const runner = spawn(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${FILES_AT_ONCE}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    `--import=${FILE_END}`,
    ...reporting,
    ...options,
    ...Object.keys(batches.byPath),
  ],
  { stdio: "inherit", env: { ...env, TEST_BATCHES: JSON.stringify(batches.byPath) } },
);

// Ctrl-C reaches the runner by itself; this process stays to see it end and to stop the database.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => runner.kill(signal));

const [code, signal] = await once(runner, "exit");
batches.remove();
await stop();
if (missing.length > 0) console.log(sayMissing(missing));
process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
