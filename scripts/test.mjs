/**
 * Runs the tests with a real PostgreSQL beside them, and ends as Node's test runner ends.
 *
 * `npm test -- quorum --test-name-pattern=offline`: words choose the files whose path holds one of them, options go
 * to Node.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { startPostgres } from "../test/postgres.ts";

/** A browser and a database work beside each file; more files at once than this only take turns. */
const FILES_AT_ONCE = 2;
/** A test that hangs is named after this long, instead of holding everything up without a word. */
const TEST_TIMEOUT_MS = 300_000;

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith("-"));
const words = args.filter((arg) => !arg.startsWith("-"));
const files = globSync("test/**/*.test.ts", { exclude: ["test/proof/**", "test/agents/**"] })
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();

if (files.length === 0) {
  console.error(`No test file has ${words.map((word) => `"${word}"`).join(" or ")} in its path.`);
  process.exit(2);
}

const postgres = await startPostgres();
const runner = spawn(
  process.execPath,
  ["--test", `--test-concurrency=${FILES_AT_ONCE}`, `--test-timeout=${TEST_TIMEOUT_MS}`, ...options, ...files],
  { stdio: "inherit", env: { ...process.env, TEST_DATABASE_URL: postgres.url } },
);

// Ctrl-C reaches the runner by itself; this process stays to see it end and to stop the database.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => runner.kill(signal));

const [code, signal] = await once(runner, "exit");
await postgres.stop();
process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
