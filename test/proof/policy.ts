import { ASKS_PER_POLICY, differenceOf } from "./policy-cases.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";

const CASES = 1_000_000;
const CASES_PER_HOUR = 20_000_000;
const MAX_FAILURES = 5;

/**
 * Random policies, asks and grants, decided by the engine and by a second implementation, and once more with the
 * rules in another order (spec/invariants P1).
 */
export const policy: Harness = {
  name: "policy",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const cases = options.longHours ? CASES_PER_HOUR * options.longHours : CASES;
    const wanted = options.seed !== undefined ? 1 : Math.ceil(cases / ASKS_PER_POLICY);
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    let policies = 0;
    for (; policies < wanted && performance.now() < until; policies += 1) {
      const found = trySeed(base + policies);
      if (found === null) continue;
      failures.push({ says: found, repeat: `npm run prove -- policy --seed ${base + policies}` });
      if (options.stopAtFirstFailure || failures.length >= MAX_FAILURES) break;
    }
    return { figures: { seed: base, policies, cases: policies * ASKS_PER_POLICY }, failures };
  },
};

function trySeed(seed: number): string | null {
  try {
    return differenceOf(seed)?.says ?? null;
  } catch (error) {
    return `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}
