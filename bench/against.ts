/**
 * Measures this checkout beside another commit, and both beside the floor of `floor.ts`, in turns:
 *
 *     npm run bench -- --against REV            about four minutes; --quick for one
 *     npm run bench -- --against REV --postgres each with a PostgreSQL of its own, all of them on one core
 *
 * Prints the servers' processor time for a whole decision (ask, wait, answer, wake), its ratio to that of the other commit
 * with the spread of the rounds, and its ratio to the floor; that of a PostgreSQL is part of it. Then decisions a second,
 * and the time from an answer to the waiter's reply.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Cell, type Figures, Measurements, ratioOf, tailOf } from "./cells.ts";
import { openApprovals, openFloor, openRelay } from "./decision-load.ts";
import { median, type Step } from "./load.ts";
import { lookAtMachine, type Machine } from "./machine.ts";
import { openParleyLoad } from "./parley-load.ts";
import { divideCores } from "./peers/cores.ts";
import { openDatabase } from "./peers/postgres.ts";
import { createAgentKeys, createKey, type Started, startFloor, startParley, together } from "./servers.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const CLIENTS = 32;
const MANY_CLIENTS = 64;
const CYCLES = ["crowd", "approval", "relay"] as const;

/** Puts the tree of a commit, with the packages of its own lock file, into `folder`. */
function checkOut(revision: string, folder: string): void {
  const archive = execFileSync("git", ["archive", "--format=tar", revision], { cwd: ROOT, maxBuffer: 2 ** 30 });
  mkdirSync(folder);
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: "ignore" });
}

/** A run gives each of its servers so many clients, and may give it a PostgreSQL. */
interface Setting {
  clients: number;
  onPostgres: boolean;
  /** The one core of all servers and databases; every core where it is missing. */
  core?: number | undefined;
}

/** Starts a server of the tree at `root`, and returns its three cycles. */
async function cyclesOf(
  name: string,
  at: { root: string; dataDir: string },
  { clients, onPostgres, core }: Setting,
  cleaners: (() => unknown)[],
): Promise<Cell[]> {
  const database = onPostgres ? await openDatabase(core) : null;
  if (database) cleaners.push(() => database.stop());
  const place = { ...at, ...(database && { databaseUrl: database.url }) };
  const parley = await startParley({ ...place, core });
  const server = together(parley.url, database ? [parley, database] : [parley]);
  cleaners.push(() => parley.stop());
  const crowd = await openParleyLoad(server.url, MANY_CLIENTS);
  const keyOf = (...words: string[]) => createKey(place, ...words);
  const approvals = openApprovals(server.url, clients, createAgentKeys(place));
  const relay = openRelay(server.url, clients, {
    executor: keyOf("executor", "--scope", "executor"),
    service: keyOf("service", "--scope", "answer"),
  });
  cleaners.push(crowd.close, approvals.close, relay.close);
  const steps: Record<(typeof CYCLES)[number], Step> = {
    crowd: crowd.wake,
    approval: approvals.step,
    relay: relay.step,
  };
  return CYCLES.map((cycle) => ({ name: `${cycle} of ${name}`, clients, server, step: steps[cycle] }));
}

async function openFloorCell(folder: string, { clients, core }: Setting, cleaners: (() => unknown)[]): Promise<Cell> {
  const server: Started = await startFloor(folder, core);
  const load = openFloor(server.url, MANY_CLIENTS);
  cleaners.push(load.close, () => server.stop());
  return { name: "the floor", clients, server, step: load.step };
}

/** Returns how many times as much processor time one took as the other: the medians' ratio, and the least and the most. */
function costRatio(one: Figures, other: Figures): string {
  const each = one.cpuUs.map((us, round) => us / (other.cpuUs[round] ?? Number.NaN));
  const value = median(one.cpuUs) / median(other.cpuUs);
  return `${value.toFixed(2)} (${Math.min(...each).toFixed(2)}–${Math.max(...each).toFixed(2)})`;
}

/** Measures and prints how long after an answer its waiter has it, beside the floor. */
async function printWakes(cells: { crowd: Cell; floor: Cell }, figures: Measurements, rounds: number): Promise<void> {
  console.log("\n| clients | crowd: p50, p99 ms from the answer to the waiter's reply | the floor: p50, p99 ms |");
  console.log("| ---: | ---: | ---: |");
  for (const clients of [1, MANY_CLIENTS]) {
    const [crowd, floor] = [cells.crowd, cells.floor].map((cell) => ({ ...cell, clients })) as [Cell, Cell];
    await figures.interleave(rounds, [crowd, floor]);
    const tails = [crowd, floor].map(({ name }) => {
      const [p50, , p99] = tailOf(figures.of(name, clients));
      return `${p50.toFixed(2)}, ${p99.toFixed(2)}`;
    });
    console.log(`| ${clients} | ${tails.join(" | ")} |`);
  }
}

/** Prints what a decision costs, and how many there are in a second. */
function printTables(
  revision: string,
  { machine, clients }: { machine: Machine; clients: number },
  of: (name: string) => Figures,
): void {
  const us = (one: Figures) => median(one.cpuUs).toFixed(0);
  const bare = of("the floor");
  console.log(`\n${machine.date}, ${machine.describes} ${clients} clients; the floor takes ${us(bare)} µs a cycle.`);
  console.log(
    `A write and sync of 4 KiB took ${machine.syncMs[0].toFixed(2)} ms. The machine was ${machine.load()}.\n`,
  );
  console.log(`| cycle | µs, ${revision} | µs, this | this / ${revision} | ${revision} / floor | this / floor |`);
  console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
  const pairs = CYCLES.map((cycle) => ({ cycle, before: of(`${cycle} of other`), now: of(`${cycle} of this`) }));
  for (const { cycle, before, now } of pairs) {
    const cells = [us(before), us(now), costRatio(now, before), costRatio(before, bare), costRatio(now, bare)];
    console.log(`| ${cycle} | ${cells.join(" | ")} |`);
  }
  console.log(
    `\n| cycle | a second, ${revision} | a second, this | this / ${revision} | p50, p99 ms, ${revision} | p50, p99 ms, this |`,
  );
  console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
  for (const { cycle, before, now } of pairs) {
    const { value, least, most } = ratioOf(now, before);
    const ratio = `${value.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
    const rates = [before, now].map(({ rates }) => median(rates).toFixed(0));
    const tails = [before, now].map((one) => {
      const [p50, , p99] = tailOf(one);
      return `${p50.toFixed(1)}, ${p99.toFixed(1)}`;
    });
    console.log(`| ${cycle} | ${[...rates, ratio, ...tails].join(" | ")} |`);
  }
}

interface AgainstOptions {
  quick: boolean;
  onPostgres: boolean;
  say: (line: string) => void;
}

/** Runs the comparison, and prints it as a table. */
export async function benchAgainst(revision: string, { quick, onPostgres, say }: AgainstOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "parley-bench-against-"));
  const cleaners: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
  const folder = (name: string): string => {
    mkdirSync(join(directory, name), { mode: 0o700 });
    return join(directory, name);
  };
  try {
    const machine = lookAtMachine(directory);
    const clients = onPostgres ? MANY_CLIENTS : CLIENTS;
    const setting = { clients, onPostgres, core: onPostgres ? divideCores()?.server : undefined };
    const other = join(directory, "tree");
    say(`checking out ${revision}, with its packages`);
    checkOut(revision, other);
    const floor = await openFloorCell(folder("floor"), setting, cleaners);
    const here = await cyclesOf("this", { root: ROOT, dataDir: folder("this") }, setting, cleaners);
    const there = await cyclesOf("other", { root: other, dataDir: folder("other") }, setting, cleaners);
    const figures = new Measurements(quick ? { warmMs: 200, ms: 800 } : { warmMs: 300, ms: 1500 }, say);
    await figures.interleave(quick ? 5 : 15, [floor, ...here.flatMap((cell, i) => [cell, there[i] ?? cell])]);
    printTables(revision, { machine, clients }, (name) => figures.of(name, clients));
    const [crowd = floor] = here;
    await printWakes({ crowd, floor }, figures, quick ? 5 : 15);
  } finally {
    for (const clean of cleaners.reverse()) await clean();
  }
}
