import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Failure, Harness, HarnessOptions, HarnessReport } from "./harness.ts";
import { openPlayer, type Player } from "./player.ts";
import { runSeed, type SimResult } from "./sim-run.ts";

const SEEDS = 1000;
const TWICE = 50;
/** In a box, new seeds are worth more than the same seeds again. */
const TWICE_IN_BOX = 5;
const BOX_MS = 240_000;
const HOUR_MS = 3_600_000;
/** 120,000 seeds in eight hours on two slow cores. */
const SEEDS_AN_HOUR = 15_000;
/** The number of failing seeds after which the search ends. Further ones would only show the same failure again. */
const ENOUGH_FAILING = 5;

const WORKER = new URL("./sim-worker.ts", import.meta.url);
const died = (seed: number): SimResult => ({
  seed,
  hash: "",
  broken: ["R2: the process that played it ended"],
  figures: {},
});

/** Every seed that ever found something, with what it was. */
interface FormerSeed {
  seed: number;
  found: string;
}

/**
 * Simulates three nodes, their clients and foul weather over one store, on virtual time, a story a seed
 * (spec/invariants 3, harness 1).
 *
 * The seeds that ever failed come first, then new ones; the first fifty are played twice and must leave the same trace.
 */
export const sim: Harness = {
  name: "sim",
  run: (options) => (options.seed === undefined ? playMany(options) : playOne(options.seed, options.trace)),
};

async function playOne(seed: number, trace: boolean): Promise<HarnessReport> {
  const result = await runSeed(seed, trace ? (line) => console.log(line) : undefined);
  return { figures: { seed, hash: result.hash, ...result.figures }, failures: failuresOf(result) };
}

async function playMany(options: HarnessOptions): Promise<HarnessReport> {
  const startedAt = Date.now();
  const { longHours, boxMs } = options;
  const wanted = boxMs === undefined && longHours === undefined ? SEEDS : Number.POSITIVE_INFINITY;
  const endsAt = startedAt + (boxMs ?? (longHours === undefined ? BOX_MS : longHours * HOUR_MS));
  const first = options.firstSeed ?? randomInt(1, 2 ** 31);
  const former = formerSeeds();

  const tally = new Tally();
  let given = 0;
  const next = (): number | null => {
    const enough = tally.failing >= (options.stopAtFirstFailure ? 1 : ENOUGH_FAILING);
    if (enough || given >= wanted || Date.now() >= endsAt) return null;
    const seed = former[given] ?? first + given - former.length;
    given += 1;
    return seed;
  };

  const players = Array.from({ length: availableParallelism() }, () => openPlayer(WORKER, died));
  await Promise.all(players.map((player) => playWith(player, next, tally, boxMs === undefined ? TWICE : TWICE_IN_BOX)));
  for (const player of players) player.close();

  const seconds = (Date.now() - startedAt) / 1000;
  const floor = longHours === undefined ? SEEDS : Math.floor(longHours * SEEDS_AN_HOUR);
  if (boxMs === undefined && tally.failing === 0 && tally.seeds < floor) {
    tally.failures.push({
      says: `Only ${tally.seeds} seeds in ${Math.round(seconds)} s; fewer than ${floor} prove nothing.`,
      repeat: "npm run prove -- sim",
    });
  }
  const figures = {
    seeds: tally.seeds,
    former: former.length,
    "played twice": tally.twice,
    "first new seed": first,
    seconds: Math.round(seconds),
    "seeds per second": Math.round((tally.seeds / seconds) * 10) / 10,
    ...tally.figures,
  };
  return { figures, failures: tally.failures };
}

/** The findings so far. */
class Tally {
  seeds = 0;
  twice = 0;
  failing = 0;
  readonly failures: Failure[] = [];
  readonly figures: Record<string, number> = {};

  add(result: SimResult): void {
    this.seeds += 1;
    for (const [name, value] of Object.entries(result.figures)) {
      const before = this.figures[name] ?? 0;
      this.figures[name] = name.startsWith("latest") ? Math.max(before, value) : before + value;
    }
    if (result.broken.length > 0) this.failing += 1;
    this.failures.push(...failuresOf(result));
  }

  compare(one: SimResult, other: SimResult): void {
    if (one.hash === other.hash) return;
    this.failing += 1;
    this.failures.push({ says: `Seed ${one.seed} took another course the second time.`, repeat: repeatOf(one.seed) });
  }
}

async function playWith(
  player: Player<SimResult>,
  next: () => number | null,
  tally: Tally,
  most: number,
): Promise<void> {
  for (let seed = next(); seed !== null; seed = next()) {
    const again = tally.twice < most;
    if (again) tally.twice += 1;
    const result = await player.play(seed);
    tally.add(result);
    if (again) tally.compare(result, await player.play(seed));
  }
}

function formerSeeds(): number[] {
  const text = readFileSync(new URL("./sim-seeds.json", import.meta.url), "utf8");
  return (JSON.parse(text) as FormerSeed[]).map(({ seed }) => seed);
}

function failuresOf({ seed, broken }: SimResult): Failure[] {
  return broken.map((says) => ({ says, repeat: repeatOf(seed) }));
}

const repeatOf = (seed: number): string => `npm run prove -- sim --seed ${seed}`;
