/**
 * Looks for broken promises: `npm run prove` runs the CI portion of every harness, `npm run prove -- sim --seed 8812334
 * --trace` repeats one, `npm run prove -- --quick` looks for three minutes, with seeds of the commit, and `npm run prove
 * -- --long --hours 8` looks for longer and writes proof-report.md.
 */
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { startPostgres } from "../support/postgres.ts";
import type { Harness, HarnessOptions, HarnessReport } from "./harness.ts";
import { runInProcess } from "./prove-process.ts";
import { commitOf, GRACE_MS, nothingDoneBy, QUICK, quickSeedOf } from "./quick.ts";

/**
 * The harnesses in the order in which they begin, and the share of a long run that each gets. Those that mostly wait for
 * processes to die and to start again run two at a time; those that load a server, or hold it to a time, run `alone`.
 */
const HARNESSES: readonly { name: string; share: number; alone?: true }[] = [
  { name: "kill", share: 0.11 },
  { name: "deliver", share: 0.045 },
  { name: "outcomes", share: 0.005 },
  { name: "model", share: 0.195 },
  { name: "sim", share: 0.305 },
  { name: "plant", share: 0.05 },
  { name: "run", share: 0.02 },
  { name: "relay", share: 0.04 },
  { name: "policy", share: 0.01 },
  { name: "commands", share: 0.005 },
  { name: "sign", share: 0.015 },
  { name: "consent", share: 0.02 },
  { name: "replies", share: 0.005 },
  { name: "reach", share: 0.01 },
  { name: "unseen", share: 0.005 },
  { name: "plans", share: 0.005 },
  { name: "race", share: 0.13, alone: true },
  { name: "freeze", share: 0.015, alone: true },
  { name: "standstill", share: 0.005, alone: true },
  { name: "promote", share: 0.01, alone: true },
  { name: "clock", share: 0.01, alone: true },
  { name: "many", share: 0.005, alone: true },
  { name: "waits", share: 0.005, alone: true },
];
const NAMES: readonly string[] = HARNESSES.map(({ name }) => name);
const REPORT = "proof-report.md";

interface Outcome {
  name: string;
  seconds: number;
  figures: HarnessReport["figures"];
  failures: HarnessReport["failures"];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    long: { type: "boolean", default: false },
    hours: { type: "string", default: "8" },
    quick: { type: "boolean", default: false },
    steps: { type: "string" },
    // For planted bugs and --quick: a short run, which may begin with a given seed or end with the first broken promise.
    "box-ms": { type: "string" },
    "first-seed": { type: "string" },
    "first-failure": { type: "boolean", default: false },
  },
});
const wrong = [
  ...positionals.filter((name) => !NAMES.includes(name)).map((name) => `There is no harness "${name}"`),
  ...[values.seed, values.hours, values.steps, values["box-ms"], values["first-seed"]]
    .filter((number) => number !== undefined && !(Number(number) >= 0))
    .map((number) => `"${number}" is not a number`),
  ...(values.seed !== undefined && positionals.length !== 1 ? ["A seed belongs to one harness"] : []),
  ...(values.steps !== undefined && positionals.join() !== "consent" ? ["Steps are counted by consent alone"] : []),
  ...(values.quick && (values.seed !== undefined || values.long)
    ? ["--quick goes with neither --seed nor --long"]
    : []),
  ...positionals.filter((name) => values.quick && !QUICK[name]).map((name) => `"${name}" cannot be made short`),
];
if (wrong.length > 0) {
  console.error(
    `${wrong[0]}; npm run prove -- [${NAMES.join(" | ")}] [--seed N] [--steps N] [--trace] [--quick] [--long] [--hours N]`,
  );
  process.exit(2);
}

// However this ends, what it has started ends with it.
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => process.exit(code));
}

const started = performance.now();
const commit = values.quick ? commitOf() : "";
const chosen = new Set(positionals.length > 0 ? positionals : NAMES.filter((name) => !values.quick || QUICK[name]));
if (values.quick) console.log(quickText());
const postgres = process.env["TEST_DATABASE_URL"] ? null : await startPostgres();
if (postgres) process.env["TEST_DATABASE_URL"] = postgres.url;
const [only] = positionals;
const outcomes = positionals.length === 1 && only !== undefined ? [await runHere(only)] : await runAll();
await postgres?.stop();

const failed = outcomes.filter(({ failures }) => failures.length > 0).length;
if (values.long && !process.send) writeFileSync(REPORT, longReport(outcomes));
const took = values.quick ? `, ${((performance.now() - started) / 1000).toFixed(0)} s` : "";
if (!process.send) console.log(`${outcomes.length - failed} passed, ${failed} failed${took}`);
process.exit(failed > 0 ? 1 : 0);

function quickText(): string {
  const left = NAMES.filter((name) => !chosen.has(name));
  const without = positionals.length === 0 ? `; left out, because they take long: ${left.join(", ")}` : "";
  return `quick: seeds of commit ${commit.slice(0, 12)}${without}`;
}

function optionsOf(name: string, share: number): HarnessOptions {
  const { seed, trace, long, hours, steps, "first-failure": stopAtFirstFailure } = values;
  const short = values.quick ? QUICK[name] : undefined;
  const boxMs = short?.boxMs ?? values["box-ms"];
  const firstSeed = short ? quickSeedOf(commit, name) : values["first-seed"];
  return {
    trace,
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(firstSeed !== undefined && { firstSeed: Number(firstSeed) }),
    ...(steps !== undefined && { steps: Number(steps) }),
    ...(long && { longHours: Number(hours) * share }),
    ...(boxMs !== undefined && { boxMs: Number(boxMs) }),
    ...(stopAtFirstFailure && { stopAtFirstFailure }),
  };
}

/** Runs one harness in this process, so that it can be debugged. */
async function runHere(name: string): Promise<Outcome> {
  const started = performance.now();
  const report = await load(name)
    .then((harness) => harness.run(optionsOf(name, 1)))
    .catch((error: unknown) => {
      // A parent process must not take a mistake in a harness for a broken promise.
      if (process.send) throw error;
      return brokenOff(name, error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
  const outcome = outcomeOf(name, started, report);
  if (process.send) await new Promise((resolve) => process.send?.(report, resolve));
  else tell(outcome);
  return outcome;
}

/** Each in a process of its own, so that none can spoil another. */
async function runAll(): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const wanted = HARNESSES.filter(({ name }) => chosen.has(name));
  const beside = wanted.filter(({ alone }) => !alone);
  const takeTurns = async (): Promise<void> => {
    for (let one = beside.shift(); one; one = beside.shift()) outcomes.push(await runApart(one.name, one.share));
  };
  // A long run gives each its share of the hours.
  await Promise.all(Array.from({ length: values.long ? 1 : 2 }, takeTurns));
  for (const { name, share } of wanted.filter(({ alone }) => alone)) outcomes.push(await runApart(name, share));
  return outcomes;
}

async function runApart(name: string, share: number): Promise<Outcome> {
  const started = performance.now();
  const options = optionsOf(name, share);
  // A quick run ends, whatever hangs.
  const withinMs = values.quick && options.boxMs !== undefined ? options.boxMs + GRACE_MS : undefined;
  const ended = await runInProcess(name, options, { output: "show", ...(withinMs !== undefined && { withinMs }) });
  const report = ended.report ?? brokenOff(name, "why" in ended ? ended.why : "");
  const outcome = outcomeOf(name, started, report);
  tell(outcome);
  return outcome;
}

function outcomeOf(name: string, startedAt: number, { figures, failures }: HarnessReport): Outcome {
  const seconds = (performance.now() - startedAt) / 1000;
  const idle = values.quick && failures.length === 0 ? nothingDoneBy(name, figures) : [];
  return { name, seconds, figures, failures: [...failures, ...idle] };
}

async function load(name: string): Promise<Harness> {
  const module = (await import(`./${name}.ts`)) as Record<string, Harness | undefined>;
  const harness = module[name];
  if (!harness) throw new Error(`test/proof/${name}.ts exports no harness "${name}"`);
  return harness;
}

function brokenOff(name: string, why: string): HarnessReport {
  return {
    figures: {},
    failures: [{ says: `broke off: ${why}`, repeat: `npm run prove -- ${name}${values.quick ? " --quick" : ""}` }],
  };
}

function tell({ name, seconds, figures, failures }: Outcome): void {
  console.log(
    `${failures.length > 0 ? "FAILED" : "holds "}  ${name.padEnd(5)}  ${seconds.toFixed(0)} s  ${figuresText(figures)}`,
  );
  for (const { says, repeat } of failures) console.log(`        ${says}\n          again: ${repeat}`);
}

function figuresText(figures: HarnessReport["figures"]): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

function longReport(outcomes: readonly Outcome[]): string {
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? "processor"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}, Node ${process.version}`;
  return [
    "# Proof report",
    "",
    `${new Date().toISOString()}, ${values.hours} h on ${machine}`,
    ...outcomes.flatMap(({ name, seconds, figures, failures }) => [
      "",
      `## ${name}: ${failures.length > 0 ? `${failures.length} failures` : "holds"}`,
      "",
      `${(seconds / 3600).toFixed(2)} h. ${figuresText(figures)}.`,
      ...failures.flatMap(({ says, repeat }) => ["", `- ${says}`, `  Again: \`${repeat}\``]),
    ]),
    "",
  ].join("\n");
}
