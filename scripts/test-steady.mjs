/**
 * Looks for tests that fail by chance: every chosen file runs several times, in shuffled order, beside as many busy
 * loops as the machine has cores.
 *
 * `npm run test:steady -- browser --rounds 20`: words choose files as for `npm test`. A test that failed once is
 * named with how often it failed and the line that repeats it, and the output of its first failure is kept.
 */
import { spawn } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openTestEnvironment } from "./test-environment.mjs";
import { changedTestFiles, testFiles, TEST_TIMEOUT_MS } from "./test-files.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILES_AT_ONCE = 2;
/** A file that has not ended by then is ended, and counts as failed. */
const FILE_TIMEOUT_MS = 3 * TEST_TIMEOUT_MS;
const EVENTS = fileURLToPath(new URL("test-events.mjs", import.meta.url));
const OUTPUTS = join(ROOT, "test-steady");
const USAGE = `npm run test:steady -- [WORD ...] [--rounds 3] [--changed] [--since REVISION] [--minutes M] [--seed S]
  [--slow-disk] [--descriptors 256] [--idle]`;

/** Loops until it is ended, so that the measured process never has a core for itself. */
const BUSY_LOOP = "for (;;);";
/** Writes and syncs without a pause, so that every other sync of this disk waits its turn. */
const DISK_LOOP = `
  const fs = require("node:fs");
  const file = fs.openSync(process.argv[1], "w");
  const bytes = Buffer.alloc(4 << 20, 1);
  for (;;) { fs.writeSync(file, bytes, 0, bytes.length, 0); fs.fsyncSync(file); }`;

const { options, words } = readArguments();
const files = options.changed || options.since ? changedTestFiles(options.since) : testFiles(words);
if (files.length === 0) {
  console.log("No test file is chosen, so there is nothing to repeat.\n0 passed, 0 failed");
  process.exit(0);
}

const deadline = options.minutes === undefined ? Infinity : Date.now() + options.minutes * 60_000;
const scratch = mkdtempSync(join(tmpdir(), "parley-steady-"));
const children = new Set();
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
]) {
  process.on(signal, () => process.exit(code));
}
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});

const { env, stop } = await openTestEnvironment({ onDisk: options["slow-disk"] });
const loops = options.idle ? [] : Array.from({ length: availableParallelism() }, () => [BUSY_LOOP]);
if (options["slow-disk"]) loops.push([DISK_LOOP, join(scratch, "disk")]);
for (const [program, ...args] of loops) start(process.execPath, ["-e", program, ...args], { stdio: "ignore" });

console.log(
  `${files.length} files, ${options.rounds} rounds, seed ${options.seed}, beside ${loops.length} busy processes`,
);
const runs = new Map(files.map((file) => [file, 0]));
/** By file and test: how often it failed, and the output of its first failure. */
const failures = new Map();
mkdirSync(OUTPUTS, { recursive: true });
for (const file of files) rmSync(outputOf(file), { force: true });
const queue = shuffledRounds();
await Promise.all(Array.from({ length: FILES_AT_ONCE }, work));
await stop();
process.exit(report() > 0 ? 1 : 0);

async function work() {
  for (let next = queue.shift(); next !== undefined && Date.now() < deadline; next = queue.shift()) {
    await runOnce(next);
    const done = sum([...runs.values()]);
    if (done % 10 === 0 || done === files.length * options.rounds) {
      console.log(`── ${done} of ${files.length * options.rounds} runs, ${failures.size} tests failed at least once`);
    }
  }
}

/** Runs a file to its end, and counts every test in it that failed. */
async function runOnce(file) {
  const limit = options.descriptors === undefined ? "" : `ulimit -n ${options.descriptors}; `;
  const test = ["--test", `--test-timeout=${TEST_TIMEOUT_MS}`, `--test-reporter=${EVENTS}`, file];
  const child = start("/bin/sh", ["-c", `${limit}exec "$0" "$@"`, process.execPath, ...test], {
    cwd: ROOT,
    env: { ...env, TEST_STEADY_OUTPUT: outputOf(file) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part) => (text += part));
  const patience = setTimeout(() => child.kill("SIGKILL"), FILE_TIMEOUT_MS);
  const [code] = await once(child, "close");
  clearTimeout(patience);
  const failed = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  if (code !== 0 && failed.length === 0)
    failed.push({ test: "the file itself", says: `ended with ${code ?? "a signal"}` });
  runs.set(file, runs.get(file) + 1);
  for (const { test, says } of failed) {
    const key = `${file}\0${test}`;
    const known = failures.get(key);
    failures.set(key, { file, test, says: known?.says ?? says, times: (known?.times ?? 0) + 1 });
    if (!known) console.log(`✖ ${file}: ${test}\n    ${says}`);
  }
}

/** Where the output of a file's first failure is kept. */
function outputOf(file) {
  return join(OUTPUTS, `${basename(file)}.txt`);
}

function report() {
  for (const { file, test, says, times } of failures.values()) {
    const again = ["npm run test:steady --", file, "--rounds 20", ...loadOptions()].join(" ");
    console.log(`\n✖ ${test}\n    failed in ${times} of ${runs.get(file)} runs: ${says}\n    ${again}`);
  }
  if (failures.size > 0) console.log(`\nWhat they printed stands in ${relative(process.cwd(), OUTPUTS)}/.`);
  const short = [...runs].filter(([, count]) => count < options.rounds);
  if (short.length > 0) {
    const fewest = Math.min(...short.map(([, count]) => count));
    console.log(`The time was over: ${short.length} files ran fewer than ${options.rounds} times, at least ${fewest}.`);
  }
  const bad = new Set([...failures.values()].map(({ file }) => file)).size;
  console.log(`${files.length - bad} passed, ${bad} failed`);
  return bad;
}

function loadOptions() {
  return [
    ...(options["slow-disk"] ? ["--slow-disk"] : []),
    ...(options.descriptors === undefined ? [] : [`--descriptors ${options.descriptors}`]),
    ...(options.idle ? ["--idle"] : []),
  ];
}

/** Every file once a round, each round in an order of its own, which the seed alone decides. */
function shuffledRounds() {
  const place = (round, file) => createHash("sha256").update(`${options.seed} ${round} ${file}`).digest("hex");
  return Array.from({ length: options.rounds }, (_, round) =>
    files.map((file) => ({ file, place: place(round, file) })).sort((one, other) => (one.place < other.place ? -1 : 1)),
  )
    .flat()
    .map(({ file }) => file);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: "string", default: "3" },
        changed: { type: "boolean", default: false },
        since: { type: "string" },
        minutes: { type: "string" },
        seed: { type: "string" },
        "slow-disk": { type: "boolean", default: false },
        descriptors: { type: "string" },
        idle: { type: "boolean", default: false },
      },
    });
    const numbers = Object.fromEntries(
      ["rounds", "minutes", "seed", "descriptors"].map((name) => [name, numberOf(name, values[name])]),
    );
    return { options: { ...values, ...numbers, seed: numbers.seed ?? randomInt(1_000_000) }, words: positionals };
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

function numberOf(name, text) {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!(Number.isInteger(number) && number >= (name === "seed" ? 0 : 1))) {
    throw new Error(`--${name} takes a whole number from 1 on, and "${text}" is none.`);
  }
  return number;
}

function start(program, args, how) {
  const child = spawn(program, args, how);
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
