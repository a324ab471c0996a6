import { createHmac } from "node:crypto";
import { DATABASES } from "../support/world.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { relayStory, type RelayStory } from "./relay-story.ts";
import { diceOf } from "./sim-dice.ts";

/** Kills at random times beside those at each point. */
const CYCLES = 2;
const LONG_CYCLES_PER_HOUR = 200;
/** Where an ask of an executor may be on its way, and how often that place is passed soon. */
const POINTS: readonly { point: string; mostHits: number }[] = [
  { point: "ask-stored", mostHits: 6 },
  { point: "ask-before-offer", mostHits: 6 },
  { point: "relay-between-ask-and-answer", mostHits: 6 },
  { point: "job-between-state-and-asks", mostHits: 2 },
  { point: "addressed-stored", mostHits: 4 },
  { point: "decision-stored", mostHits: 2 },
  { point: "addressed-between-outcome-and-closing", mostHits: 2 },
  { point: "committed-before-waking", mostHits: 40 },
];

/**
 * The shipped process with executors that ask and people, services and rules that answer, killed at each point of an
 * ask's life. Every acknowledged request is there. Every ask has one answer, the one that clients got. Deadlines hold.
 * A
 * follower of a job sees every event once (spec/relay 22; spec/invariants D1, S1 to S4, T1).
 */
export const relay: Harness = {
  name: "relay",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = firstSeedOf(options);
    const cycles = options.longHours ? Math.ceil(LONG_CYCLES_PER_HOUR * options.longHours) : CYCLES;
    const until = performance.now() + (options.boxMs ?? Infinity);
    // In a box each seed begins with other points.
    const points = options.boxMs === undefined ? POINTS : diceOf(seed).shuffle([...POINTS]);
    const boxed = options.boxMs === undefined ? "" : ` --box-ms ${options.boxMs}`;
    const failures: Failure[] = [];
    const repeat = `npm run prove -- relay --seed ${seed}${boxed}`;
    const stories = await Promise.all(
      DATABASES.map((on, i) =>
        relayStory({
          on,
          cycles,
          points,
          random: seededBy(seed + i),
          trace: options.trace,
          isOver: () => performance.now() > until || (options.stopAtFirstFailure === true && failures.length > 0),
          onProblem: (says) => failures.push({ says: `on ${on}: ${says}`, repeat }),
        }),
      ),
    );
    const total = (pick: (story: RelayStory) => number) => stories.reduce((sum, story) => sum + pick(story), 0);
    return {
      figures: {
        seed,
        kills: total(({ kills }) => kills),
        asks: total(({ asks }) => asks),
        answers: total(({ answers }) => answers),
        events: total(({ events }) => events),
        "latest timeout ms": Math.max(...stories.map(({ latenessMs }) => latenessMs)),
      },
      failures,
    };
  },
};

/** Returns numbers between 0 and 1 that a seed repeats. */
function seededBy(seed: number): () => number {
  let drawn = 0;
  return () =>
    createHmac("sha256", String(seed))
      .update(String((drawn += 1)))
      .digest()
      .readUInt32BE(0) /
    2 ** 32;
}
