import { DATABASES, openWorld, type World } from "../support/world.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { playPlan, sceneIn, type Scene } from "./plans-story.ts";
import { diceOf } from "./sim-dice.ts";

const PLANS = 150;
const PLANS_PER_HOUR = 40_000;
const MAX_FAILURES = 3;

/**
 * Random plans of calls, which end in every way and are then run in another order, number or form, by another agent, with
 * keys of other uses, and past their time, on both databases and on two servers: no call is used that was not approved,
 * none twice, none before its turn, and every use that the rules allow is taken (spec/a2h 22).
 */
export const plans: Harness = {
  name: "plans",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const wanted = options.seed !== undefined ? 1 : (options.longHours ?? 0) * PLANS_PER_HOUR || PLANS;
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    let made = 0;
    let runs = 0;
    await using scenes = await openScenes();
    for (; made < wanted && performance.now() < until; made += 1) {
      const seed = base + made;
      for (const scene of scenes.list) {
        const found = await playPlan(scene, diceOf(seed), `p${seed}-${made}`);
        runs += found.runs;
        if (found.says === null) continue;
        const says = `on ${scene.world.on}: ${found.says}`;
        failures.push({ says, repeat: `npm run prove -- plans --seed ${seed}` });
      }
      if (failures.length > 0 && (options.stopAtFirstFailure || failures.length >= MAX_FAILURES)) break;
    }
    return { figures: { seed: base, plans: made, "mutated runs": runs }, failures };
  },
};

async function openScenes(): Promise<AsyncDisposable & { list: Scene[] }> {
  const worlds: World[] = [];
  const list: Scene[] = [];
  for (const on of DATABASES) {
    const world = await openWorld({ on });
    worlds.push(world);
    list.push(await sceneIn(world, on === "postgres" ? [world, await world.addNode()] : [world]));
  }
  return {
    list,
    async [Symbol.asyncDispose]() {
      for (const world of worlds) await world[Symbol.asyncDispose]();
    },
  };
}
