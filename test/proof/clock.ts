import { DATABASES } from "../support/world.ts";
import { clockStory } from "./clock-story.ts";
import type { Failure, Harness, HarnessOptions, HarnessReport } from "./harness.ts";
import { diceOf } from "./sim-dice.ts";

const MOST_TOLD = 20;

/**
 * The shipped server on a machine whose wall clock is set by ±1 s, ±3 h and +73 years, while it runs and between two
 * starts, and which sleeps and is booted: no deadline, lease or wait ends early or late for it, nothing acknowledged is
 * lost, and the server starts again, by `--accept-clock` where it must be (spec/invariants T3).
 */
export const clock: Harness = {
  name: "clock",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = options.seed ?? Math.floor(Math.random() * 1e8);
    const until = performance.now() + (options.longHours === undefined ? 0 : options.longHours * 3_600_000);
    const failures: Failure[] = [];
    const isOver = () => options.stopAtFirstFailure === true && failures.length > 0;
    const figures: Record<string, number> = {};
    for (let next = seed; next === seed || (performance.now() < until && failures.length === 0); next += 1) {
      const repeat = `npm run prove -- clock --seed ${next}`;
      // Most of the time each of them waits for a clock.
      const told = await Promise.all(
        DATABASES.map((on) =>
          clockStory({
            on,
            dice: diceOf(next),
            isOver,
            trace: (line) => options.trace && console.error(`clock ${next} on ${on}: ${line}`),
            onProblem: (problem) => {
              const says = `${on}: ${problem}`;
              if (failures.length < MOST_TOLD && !failures.some((one) => one.says === says)) {
                failures.push({ says, repeat });
              }
            },
          }),
        ),
      );
      for (const story of told) {
        for (const [name, value] of Object.entries(story)) {
          const before = figures[name] ?? 0;
          figures[name] = name.includes(", ms") ? Math.max(before, Math.round(value)) : before + value;
        }
      }
    }
    return { figures: { seed, ...figures }, failures };
  },
};
