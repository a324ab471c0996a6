import { createHmac } from "node:crypto";
import { type DatabaseName, DATABASES } from "../support/world.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { runStory, type RunStory } from "./run-story.ts";

/** How long the CI portion disturbs the work on each database; the long run does so again and again. */
const LOAD_MS = 22_000;
const LONG_ROUNDS_PER_HOUR = 40;
/** The minimum of one round. */
const FLOORS: Readonly<Record<DatabaseName, Partial<RunStory>>> = {
  postgres: {
    attempts: 15,
    commits: 13,
    ghosts: 1,
    stalls: 2,
    kills: 2,
    lostLeases: 1,
    remote: 4,
    reviews: 13,
    decisions: 1,
  },
  sqlite: { attempts: 9, commits: 9, ghosts: 1, stalls: 1, kills: 1, remote: 3, reviews: 9, decisions: 1 },
};

/**
 * Tasks of a random graph are given, given again, taken back and reviewed, and what their agents want is decided, all at
 * once and at all doors, while two servers, their workers and the agents are stopped, killed and started again; then every
 * promise about tasks is looked for in the replies to clients, in the log, the store, git and the processes
 * (spec/assignment 16; spec/invariants G1, G3, G4, J1 to J4, J7 to J10, A1, S1, D1).
 */
export const run: Harness = {
  name: "run",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = firstSeedOf(options);
    const rounds = options.longHours ? Math.ceil(LONG_ROUNDS_PER_HOUR * options.longHours) : 1;
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    const stories: RunStory[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const own = seed + round;
      const repeat = `npm run prove -- run --seed ${own}`;
      const told = await Promise.all(
        DATABASES.map(async (on) => {
          const story = await runStory({
            on,
            loadMs: LOAD_MS,
            randomOf: (name) => seededBy(`${own} ${on} ${name}`),
            trace: options.trace ? (line) => console.error(`run, ${on}, ${line}`) : () => {},
            onProblem: (says) => failures.push({ says: `on ${on}: ${says}`, repeat }),
            isOver: () => performance.now() > until || (options.stopAtFirstFailure === true && failures.length > 0),
          });
          if (options.boxMs === undefined) {
            failures.push(...missedBy(on, story).map((says) => ({ says: `on ${on}: ${says}`, repeat })));
          }
          return story;
        }),
      );
      stories.push(...told);
      if (performance.now() > until || (options.stopAtFirstFailure && failures.length > 0)) break;
    }
    return { figures: { seed, ...figuresOf(stories) }, failures };
  },
};

function missedBy(on: DatabaseName, story: RunStory): string[] {
  return Object.entries(FLOORS[on]).flatMap(([name, least]) => {
    const done = story[name as keyof RunStory];
    return done < least ? [`only ${done} ${name} of ${least}`] : [];
  });
}

function figuresOf(stories: readonly RunStory[]): Record<string, number> {
  const total = (pick: (story: RunStory) => number) => stories.reduce((sum, story) => sum + pick(story), 0);
  return {
    submissions: total((story) => story.submissions),
    attempts: total((story) => story.attempts),
    "by workers": total((story) => story.remote),
    "lost attempts": total((story) => story.lost),
    commits: total((story) => story.commits),
    reviews: total((story) => story.reviews),
    decisions: total((story) => story.decisions),
    ghosts: total((story) => story.ghosts),
    stalls: total((story) => story.stalls),
    "lost leases": total((story) => story.lostLeases),
    kills: total((story) => story.kills),
    stops: total((story) => story.stops),
    "killed agents": total((story) => story.agents),
    events: total((story) => story.events),
    looks: total((story) => story.looks),
    "longest healing ms": Math.round(Math.max(0, ...stories.map((story) => story.healedMs))),
  };
}

/** Returns numbers between 0 and 1 that a seed repeats. */
function seededBy(seed: string): () => number {
  let drawn = 0;
  return () =>
    createHmac("sha256", seed)
      .update(String((drawn += 1)))
      .digest()
      .readUInt32BE(0) /
    2 ** 32;
}
