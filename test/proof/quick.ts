import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Failure, HarnessReport } from "./harness.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SEEDS = 100_000_000;

/** A short portion of one harness. */
interface Portion {
  /** How long it looks. Whatever it has begun by then, it ends. */
  boxMs: number;
  /** The figure that is above zero wherever it did anything. */
  counts: string;
}

/**
 * The harnesses of `npm run prove -- --quick`, which find the most in a second. On two idle cores it takes less than
 * three minutes. The others show little before they have come to their end.
 */
export const QUICK: Readonly<Record<string, Portion>> = {
  kill: { boxMs: 40_000, counts: "cycles" },
  model: { boxMs: 35_000, counts: "requests" },
  sim: { boxMs: 35_000, counts: "seeds" },
  relay: { boxMs: 35_000, counts: "kills" },
  policy: { boxMs: 8000, counts: "cases" },
  commands: { boxMs: 8000, counts: "allowed" },
  sign: { boxMs: 8000, counts: "forgeries" },
  consent: { boxMs: 20_000, counts: "steps" },
  replies: { boxMs: 6000, counts: "replies" },
  reach: { boxMs: 8000, counts: "requests" },
  plans: { boxMs: 6000, counts: "mutated runs" },
  unseen: { boxMs: 5000, counts: "calls" },
  promote: { boxMs: 10_000, counts: "promotions" },
  // The box is that of its load; the directed races come before.
  race: { boxMs: 8000, counts: "operations" },
};

/** How much longer than its box a harness may take, on a machine that is busy. */
export const GRACE_MS = 90_000;

/** Returns the commit that chooses the seeds, so that each commit looks elsewhere and finds the same again. */
export function commitOf(): string {
  return execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
}

export function quickSeedOf(commit: string, name: string): number {
  return createHash("sha256").update(`${commit} ${name}`).digest().readUInt32BE(0) % SEEDS;
}

/** Returns a failure where a harness did nothing in its box: it would pass without a look at anything. */
export function nothingDoneBy(name: string, figures: HarnessReport["figures"]): Failure[] {
  const { counts } = QUICK[name] ?? {};
  if (counts === undefined || Number(figures[counts] ?? 0) > 0) return [];
  return [{ says: `did nothing in its box: no ${counts}`, repeat: `npm run prove -- ${name} --quick` }];
}
