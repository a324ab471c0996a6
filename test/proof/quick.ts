import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import type { HarnessOptions, HarnessReport } from "./harness.ts";

/**
 * The harnesses that find most in a short time, how long each may take, and the figure that says it did something. The
 * whole takes less than three minutes on two cores; the others are left to the long run.
 */
const QUICK: Readonly<Record<string, { boxMs: number; did: string }>> = {
  kill: { boxMs: 45_000, did: "cycles" },
  model: { boxMs: 40_000, did: "steps" },
  sim: { boxMs: 40_000, did: "seeds" },
  policy: { boxMs: 12_000, did: "policies" },
  sign: { boxMs: 12_000, did: "forgeries" },
  reach: { boxMs: 10_000, did: "requests" },
  unseen: { boxMs: 10_000, did: "calls" },
  race: { boxMs: 15_000, did: "operations" },
};

export const QUICK_NAMES: readonly string[] = Object.keys(QUICK);

/** Returns how a harness runs with `--quick`: in its box, with seeds that the commit chooses. */
export function quickOptions(name: string): HarnessOptions {
  const digest = createHash("sha256").update(`${commit()} ${name}`).digest();
  return { trace: false, boxMs: QUICK[name]?.boxMs ?? 0, firstSeed: digest.readUInt32BE(0) >>> 2 };
}

/** Returns the report of a harness that ran in its box; one that did nothing there has failed. */
export function withFloor(name: string, report: HarnessReport): HarnessReport {
  const did = QUICK[name]?.did ?? "";
  if (report.failures.length > 0 || Number(report.figures[did]) > 0) return report;
  const failure = { says: `no ${did} within its time`, repeat: `npm run prove -- ${name}` };
  return { ...report, failures: [failure] };
}

/** Without git, as in an unpacked archive, every run has the same seeds. */
function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}
