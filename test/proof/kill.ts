import { type DatabaseName, DATABASES } from "../support/world.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { listPoints } from "./kill-process.ts";
import { tellStory, type Story, type Step } from "./kill-story.ts";

/** The minimum of the CI portion. */
const CYCLES = 60;
const LONG_CYCLES_PER_HOUR = 375;
const LONG_POINT_ROUNDS_PER_HOUR = 2.5;
/** The number of cycles at random times, out of ten, that end with a polite signal instead. */
const POLITE_OF_TEN = 2;

/** Points that only one of the databases passes. */
const ONLY_ON: readonly [RegExp, DatabaseName][] = [
  [/^(sqlite|highwater)-|^first-start-files/, "sqlite"],
  [/^postgres-/, "postgres"],
];
/** The `deliver` harness tests these points. */
const LEFT_TO_DELIVER = /^(addressed|decision|delivery|notice|notify)-/;
/** Commands that a person runs, killed at these by test/backup/killed.large.test.ts. */
const LEFT_TO_BACKUP = /^(backup|restore|import|rotate)-/;
/** Where a point lies decides what leads there; every other is passed under load, so many times at least. */
const LEADS: readonly [RegExp, Pick<Step, "kind"> & { hits: number }][] = [
  [/^first-start-|^migration-before-commit$|^highwater-at-start-/, { kind: "first-start", hits: 1 }],
  [/^migration-between-statements$/, { kind: "first-start", hits: 40 }],
  [/^before-listening$/, { kind: "start", hits: 1 }],
  [/^(expire|end)-/, { kind: "start-late", hits: 20 }],
  [/^(retention|trim|sweep)-/, { kind: "start-much-later", hits: 1 }],
  [/^(job|lease|artifact|relay|ask)-/, { kind: "relay", hits: 1 }],
  [/^(attempt|task|review)-/, { kind: "assign", hits: 1 }],
  [/^conversation-between-(opening|words)-/, { kind: "conversation", hits: 2 }],
  [/^conversation-/, { kind: "conversation", hits: 1 }],
  [/^(while-stopping|stopped-)/, { kind: "stop", hits: 1 }],
  [/^(highwater|erase)-/, { kind: "load", hits: 1 }],
  [/./, { kind: "load", hits: 40 }],
];

/**
 * The shipped process, under load, killed at random times and at every point the source marks; after each start,
 * everything that was acknowledged is there and equal, and what is unknown is retried to one result
 * (spec/invariants D1, D8, D10, T1, R4).
 */
export const kill: Harness = {
  name: "kill",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = firstSeedOf(options);
    const repeat = `npm run prove -- kill --seed ${seed}`;
    const random = seeded(seed);
    const cycles = options.longHours ? Math.ceil(LONG_CYCLES_PER_HOUR * options.longHours) : CYCLES;
    const rounds = options.longHours ? Math.ceil(LONG_POINT_ROUNDS_PER_HOUR * options.longHours) : 1;
    const points = listPoints().filter((point) => !LEFT_TO_DELIVER.test(point) && !LEFT_TO_BACKUP.test(point));
    const plans = planSteps(points, { cycles, rounds, random });
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;

    const failures: Failure[] = [];
    const stories = await Promise.all(
      plans.map(([on, steps], i) =>
        tellStory({
          on,
          steps,
          random: seeded(seed + 1 + i),
          trace: options.trace ? (line) => console.error(`kill, ${on}: ${line}`) : () => {},
          isOver: () => performance.now() > until || (options.stopAtFirstFailure === true && failures.length > 0),
          onProblem: (says) => failures.push({ says: `on ${on}: ${says}`, repeat }),
        }),
      ),
    );
    if (options.boxMs === undefined && !(options.stopAtFirstFailure && failures.length > 0)) {
      failures.push(...floorFailures(stories, { cycles, points, rounds }).map((says) => ({ says, repeat })));
    }
    return { figures: { seed, ...figuresOf(stories) }, failures };
  },
};

/** Deals the cycles and the points out to the two databases, in an order of the seed. */
function planSteps(
  points: readonly string[],
  { cycles, rounds, random }: { cycles: number; rounds: number; random: () => number },
): [DatabaseName, Step[]][] {
  const steps: Record<DatabaseName, Step[]> = { sqlite: [], postgres: [] };
  for (let i = 0; i < cycles; i += 1) {
    const on = i % 5 < 3 ? "sqlite" : "postgres";
    steps[on].push({ kind: i % 10 < POLITE_OF_TEN ? "stop" : "load" });
  }
  for (let round = 0; round < rounds; round += 1) {
    points.forEach((point, i) => {
      const only = ONLY_ON.find(([name]) => name.test(point))?.[1];
      const { kind, hits } = LEADS.find(([name]) => name.test(point))?.[1] ?? { kind: "load", hits: 1 };
      const turn = (i + round) % 2 === 0 ? "sqlite" : "postgres";
      // Whether the schema can be made in one go is for each database to show.
      const places = point.startsWith("migration-") ? DATABASES : [only ?? turn];
      for (const on of places) steps[on].push({ kind, at: { point, hit: 1 + Math.floor(random() * hits) } });
    });
  }
  steps.sqlite.push({ kind: "second-start" }, { kind: "newer-schema" }, { kind: "many-pending" });
  steps.postgres.push({ kind: "newer-schema" });
  return [
    ["sqlite", shuffle(steps.sqlite, random)],
    ["postgres", shuffle(steps.postgres, random)],
  ];
}

function floorFailures(
  stories: readonly Story[],
  wanted: { cycles: number; points: readonly string[]; rounds: number },
): string[] {
  const cycles = stories.reduce((sum, story) => sum + story.cycles, 0);
  const hit = stories.flatMap((story) => story.pointsHit);
  const missed = wanted.points.filter((point) => hit.filter((one) => one === point).length < wanted.rounds);
  const acknowledged = stories.reduce((sum, story) => sum + story.acknowledged, 0);
  return [
    ...(cycles < wanted.cycles ? [`only ${cycles} of ${wanted.cycles} cycles came to their end`] : []),
    ...(missed.length > 0 ? [`nobody died at ${missed.join(", ")}`] : []),
    ...(acknowledged < 20 * wanted.cycles ? [`only ${acknowledged} writes were acknowledged in all`] : []),
    ...(stories.some((story) => story.unknown === 0) ? ["no request was ever cut off by a kill"] : []),
    ...(stories.every((story) => story.kept === 0) ? ["no reply was ever lost after its commit"] : []),
    ...(stories.every((story) => story.expired === 0) ? ["no deadline ever passed while a server ran"] : []),
  ];
}

function figuresOf(stories: readonly Story[]): Record<string, number | string> {
  const total = (pick: (story: Story) => number) => stories.reduce((sum, story) => sum + pick(story), 0);
  const most = (pick: (story: Story) => number) => Math.round(Math.max(0, ...stories.map(pick)));
  const ready = stories.flatMap((story) => story.readyMs).sort((one, other) => one - other);
  const share = (part: number) => Math.round(ready[Math.min(ready.length - 1, Math.floor(ready.length * part))] ?? 0);
  return {
    cycles: total((story) => story.cycles),
    points: new Set(stories.flatMap((story) => story.pointsHit)).size,
    starts: ready.length,
    acknowledged: total((story) => story.acknowledged),
    "unknown, found kept": total((story) => story.kept),
    "unknown, found lost": total((story) => story.lost),
    "ready p50 ms": share(0.5),
    "ready p99 ms": share(0.99),
    "ready with 10,000 pending ms": most((story) => story.readyWithManyMs),
    "ready after settling 10,000 ms": most((story) => story.readyAfterManyMs),
    "expired in time": total((story) => story.expired),
    "largest lateness ms": most((story) => story.latenessMs),
    "longest stop ms": most((story) => story.stopMs),
  };
}

function shuffle<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((item) => ({ item, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

/** Returns numbers between 0 and 1 that a seed repeats (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
