/**
 * The report of a run of tests: Node's own, why a test failed as soon as it has, and now and then a line that says how far
 * the run is. The file that `TEST_REPORT` names gets the outcome for the program that began the run (scripts/test-run.mjs).
 */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { inspect } from "node:util";
import { spec as SpecReporter } from "node:test/reporters";
import { readTimes } from "./test-files.mjs";

const SAYS_EVERY_MS = 20_000;
const REASON_LINES = 30;

export default async function* report(source) {
  const printed = new SpecReporter();
  const run = new Run(JSON.parse(process.env.TEST_BATCHES ?? "{}"), readTimes());
  let saidAt = Date.now();
  for await (const event of source) {
    run.see(event);
    printed.write(event);
    for (let text = printed.read(); text !== null; text = printed.read()) yield text;
    // Node's report says it at the end only, which a run that is cut off never comes to.
    if (isOwnFailure(event)) yield reason(event.data.details.error);
    if (Date.now() - saidAt < SAYS_EVERY_MS) continue;
    saidAt = Date.now();
    yield run.progress();
  }
  printed.end();
  for await (const text of printed) yield text;
  // Node takes a process that ends early without an error for one whose tests have all passed.
  if (run.failUnended()) process.exitCode = 1;
  if (process.env.TEST_REPORT) writeFileSync(process.env.TEST_REPORT, JSON.stringify(run.outcome()));
}

/** One run of the suite, by its events. */
class Run {
  /** Seconds of the files that are done. */
  seconds = new Map();
  #waiting;
  /** The files that share a process, by the path of what it began with, and by each of them. */
  #together = new Map();
  #startedAt = new Map();
  #mostAtOnce = 1;
  #failed = [];
  #counts = { passed: 0, failed: 0, skipped: 0 };
  #path = [];
  #lastTimes;

  constructor(batches, lastTimes) {
    for (const [path, files] of Object.entries(batches))
      for (const name of [path, ...files]) this.#together.set(name, files);
    this.#waiting = new Set(Object.values(batches).flat());
    this.#lastTimes = lastTimes;
  }

  see({ type, data }) {
    if (data?.nesting === 0 && this.#isFile(data.name)) this.#seeFile(type, data);
    if (type === "test:start") this.#path[data.nesting] = data.name;
    if (isOwnFailure({ type, data })) this.#failed.push(this.#failure(data));
    if ((type === "test:pass" || type === "test:fail") && data.details?.type !== "suite") this.#count(type, data);
  }

  #count(type, { skip, nesting, name }) {
    // A process of several files is reported as one test more.
    if (nesting === 0 && this.#together.has(name)) return;
    this.#counts[skip !== undefined && skip !== false ? "skipped" : type === "test:pass" ? "passed" : "failed"] += 1;
  }

  #isFile(name) {
    return this.#together.get(name)?.includes(name) ?? false;
  }

  #seeFile(type, { name, details }) {
    if (type === "test:dequeue") {
      // Node holds back how a file of one process ended while it reports another process, but not that the next began.
      const last = this.#together.get(name).find((file) => this.#startedAt.has(file));
      if (last !== undefined) this.#end(last, Date.now() - this.#startedAt.get(last));
      this.#waiting.delete(name);
      this.#startedAt.set(name, Date.now());
      this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#startedAt.size);
    }
    if (type === "test:complete") this.#end(name, details.duration_ms);
  }

  #end(file, ms) {
    this.seconds.set(file, Math.round(ms / 100) / 10);
    this.#startedAt.delete(file);
  }

  /** Counts files that did not finish as failed, unless a failed process already names them. */
  failUnended() {
    const named = new Set(this.#failed.flatMap(({ files, names }) => (names.length > 0 ? [] : files)));
    const unended = [...this.#waiting, ...this.#startedAt.keys()].filter((file) => !named.has(file));
    if (unended.length > 0) this.#failed.push({ files: unended, names: [], text: "" });
    return unended.length > 0;
  }

  /** Returns the files to run again, and the names of the tests within one. */
  #failure(data) {
    const together = this.#together.get(data.name);
    const text = reason(data.details.error);
    if (data.nesting === 0 && together) {
      const unended = together.filter((file) => !this.seconds.has(file));
      return {
        files: this.#isFile(data.name) ? [data.name] : unended.length > 0 ? unended : together,
        names: [],
        text,
      };
    }
    const names = [...this.#path.slice(0, data.nesting), data.name];
    const first = this.#isFile(names[0]) ? names.shift() : relative(process.cwd(), data.file);
    if (this.#isFile(first)) return { files: [first], names, text };
    // A module beside the test files declared the test: it is of a file that runs now.
    const running = [...this.#startedAt.keys()];
    return { files: running.length > 0 ? running : [...new Set([...this.#together.values()].flat())], names, text };
  }

  /** One line: how many files are done, about how many minutes are left, and what runs now. */
  progress() {
    const now = [...this.#startedAt.keys()];
    const files = this.seconds.size + now.length + this.#waiting.size;
    const failed = this.#failed.length > 0 ? `, ${this.#failed.length} failed` : "";
    const left = Math.ceil(this.#secondsLeft() / 60);
    return `── ${this.seconds.size} of ${files} files${failed}, about ${left} min left; now ${now.join(", ")}\n`;
  }

  /** By the times of the last run, held against how fast this one has been so far; without any, by the mean so far. */
  #secondsLeft() {
    const done = [...this.seconds];
    const spent = sum(done.map(([, seconds]) => seconds));
    const known = done.filter(([file]) => this.#lastTimes[file] !== undefined);
    const lasted = sum(known.map(([file]) => this.#lastTimes[file]));
    const pace = lasted > 0 ? sum(known.map(([, seconds]) => seconds)) / lasted : 1;
    const mean = done.length > 0 ? spent / done.length / pace : 5;
    const expected = (file) => (this.#lastTimes[file] ?? mean) * pace;
    const running = [...this.#startedAt].map(([file, since]) =>
      Math.max(0, expected(file) - (Date.now() - since) / 1000),
    );
    return (sum(running) + sum([...this.#waiting].map(expected))) / this.#mostAtOnce;
  }

  /** The counts, the seconds of each file, and each failure with the command that repeats it. */
  outcome() {
    const failures = this.#failed.map((one) => ({ ...one, again: alone(one.files.join(" "), one.names) }));
    return { counts: this.#counts, seconds: Object.fromEntries(this.seconds), failures };
  }
}

/** Whether a test failed by itself, and not because one within it did. */
function isOwnFailure({ type, data }) {
  return type === "test:fail" && data.details?.error?.failureType !== "subtestsFailed";
}

/** Why a test failed, indented; of a long text the beginning. */
function reason(error) {
  const lines = inspect(error?.cause ?? error).split("\n");
  const more = lines.length > REASON_LINES ? ["..."] : [];
  return `${[...lines.slice(0, REASON_LINES), ...more].map((line) => `    ${line}`).join("\n")}\n`;
}

/** The command that runs one test of one file, which the shell takes as it stands. */
function alone(file, names) {
  const pattern = names.length > 0 ? ` --test-name-pattern='${escaped(names.join(" "))}'` : "";
  return `npm test -- ${file}${pattern}`;
}

/** A pattern that matches exactly this text, within the single quotes of a shell. */
function escaped(text) {
  return `^${text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll("'", ".")}$`;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
