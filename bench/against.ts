/**
 * Measures this checkout beside another commit, and both beside the floor of `floor.ts`, in turns:
 *
 *     npm run bench -- --against REV            about four minutes; --quick for one
 *
 * Prints the servers' processor time for a whole decision (ask, wait, answer, wake), its ratio to that of the other commit
 * with the spread of the rounds, and its ratio to the floor. Then the time from an answer to the waiter's reply, with one
 * client and with many.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Cell, type Figures, Measurements, tailOf } from "./cells.ts";
import { openApprovals, openFloor, openRelay } from "./decision-load.ts";
import { median, type Step } from "./load.ts";
import { lookAtMachine } from "./machine.ts";
import { openParleyLoad } from "./parley-load.ts";
import { createAgentKeys, createKey, type Started, startFloor, startParley } from "./servers.ts";

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

/** Starts a server of the tree at `root`, and returns its three cycles. */
async function cyclesOf(name: string, root: string, dataDir: string, cleaners: (() => unknown)[]): Promise<Cell[]> {
  const server = await startParley({ root, dataDir });
  cleaners.push(() => server.stop());
  const crowd = await openParleyLoad(server.url, MANY_CLIENTS);
  const keyOf = (...words: string[]) => createKey({ root, dataDir }, ...words);
  const approvals = openApprovals(server.url, CLIENTS, createAgentKeys({ root, dataDir }));
  const relay = openRelay(server.url, CLIENTS, {
    executor: keyOf("executor", "--scope", "executor"),
    service: keyOf("service", "--scope", "answer"),
  });
  cleaners.push(crowd.close, approvals.close, relay.close);
  const steps: Record<(typeof CYCLES)[number], Step> = {
    crowd: crowd.wake,
    approval: approvals.step,
    relay: relay.step,
  };
  return CYCLES.map((cycle) => ({ name: `${cycle} of ${name}`, clients: CLIENTS, server, step: steps[cycle] }));
}

async function openFloorCell(folder: string, cleaners: (() => unknown)[]): Promise<Cell> {
  const server: Started = await startFloor(folder);
  const load = openFloor(server.url, MANY_CLIENTS);
  cleaners.push(load.close, () => server.stop());
  return { name: "the floor", clients: CLIENTS, server, step: load.step };
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

/** Runs the comparison, and prints it as a table. */
export async function benchAgainst(revision: string, { quick, say }: { quick: boolean; say: (line: string) => void }) {
  const directory = mkdtempSync(join(tmpdir(), "parley-bench-against-"));
  const cleaners: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
  const folder = (name: string): string => {
    mkdirSync(join(directory, name), { mode: 0o700 });
    return join(directory, name);
  };
  try {
    const machine = lookAtMachine(directory);
    const other = join(directory, "tree");
    say(`checking out ${revision}, with its packages`);
    checkOut(revision, other);
    const floor = await openFloorCell(folder("floor"), cleaners);
    const here = await cyclesOf("this", ROOT, folder("this"), cleaners);
    const there = await cyclesOf("other", other, folder("other"), cleaners);
    const figures = new Measurements(quick ? { warmMs: 200, ms: 800 } : { warmMs: 300, ms: 1500 }, say);
    await figures.interleave(quick ? 5 : 15, [floor, ...here.flatMap((cell, i) => [cell, there[i] ?? cell])]);
    const of = (name: string) => figures.of(name, CLIENTS);
    const us = (one: Figures) => median(one.cpuUs).toFixed(0);
    const bare = of("the floor");
    console.log(`\n${machine.date}, ${machine.describes} ${CLIENTS} clients; the floor takes ${us(bare)} µs a cycle.`);
    console.log(
      `A write and sync of 4 KiB took ${machine.syncMs[0].toFixed(2)} ms. The machine was ${machine.load()}.\n`,
    );
    console.log(
      `| cycle | µs, ${revision} | µs, this | this / ${revision} | ${revision} / floor | this / floor | p50, p99 ms |`,
    );
    console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (const cycle of CYCLES) {
      const [before, now] = [of(`${cycle} of other`), of(`${cycle} of this`)];
      const [p50, , p99] = tailOf(now);
      const cells = [us(before), us(now), costRatio(now, before), costRatio(before, bare), costRatio(now, bare)];
      console.log(`| ${cycle} | ${cells.join(" | ")} | ${p50.toFixed(1)}, ${p99.toFixed(1)} |`);
    }
    const [crowd = floor] = here;
    await printWakes({ crowd, floor }, figures, quick ? 5 : 15);
  } finally {
    for (const clean of cleaners.reverse()) await clean();
  }
}
