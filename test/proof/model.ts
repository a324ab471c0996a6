import fc from "fast-check";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { IN_PUBLIC } from "../support/contract.ts";
import { openPair, type Pair } from "./model-pair.ts";
import { DAY, HOUR } from "./model-points.ts";
import { Model, type Rules } from "./model-rules.ts";
import { storyOf } from "./model-steps.ts";
import { Story } from "./model-story.ts";

const SEQUENCES = 300;
const SEQUENCES_PER_HOUR = 2500;
const STEPS = 40;
/** The number of stories that share two servers. Then these are examined and new ones are opened. */
const STORIES_PER_PAIR = 20;
const SHRINK_MS = 60_000;
const PLENTY = 1_000_000;
const KEPT_DAYS = 2;
const WEEK = 7 * DAY;
const SOME_MONDAY = Date.UTC(2026, 0, 5);

/** Every other story is about limits, and every other about what is earned. */
const RULES: readonly Rules[] = [
  { questionsPerHour: 8, openQuestions: 4, answersPerHour: 6, bonuses: false, dailyCap: 500 },
  { questionsPerHour: PLENTY, openQuestions: PLENTY, answersPerHour: PLENTY, bonuses: true, dailyCap: 60 },
].map((rules) => ({ ...rules, readsPerHour: PLENTY, keptMs: KEPT_DAYS * DAY }));

/** The crowd is public, so that a request without credentials comes from a new person. */
const settingsOf = (rules: Rules): Record<string, string> => ({
  ...IN_PUBLIC,
  ...Object.fromEntries(
    Object.entries({
      LIMITS_QUESTIONS_PER_HOUR: rules.questionsPerHour,
      LIMITS_OPEN_QUESTIONS: rules.openQuestions,
      LIMITS_ANSWERS_PER_HOUR: rules.answersPerHour,
      LIMITS_AGENT_READS_PER_HOUR: rules.readsPerHour,
      LIMITS_HUMAN_READS_PER_HOUR: rules.readsPerHour,
      POINTS_BONUSES: rules.bonuses,
      POINTS_DAILY_CAP: rules.dailyCap,
      RETENTION_CLOSED_DAYS: KEPT_DAYS,
      RETENTION_EXPIRED_DAYS: KEPT_DAYS,
    }).map(([name, value]) => [`PARLEY_ASK_A_HUMAN_${name}`, String(value)]),
  ),
});

/** Two servers and the model of them, shared by story after story. */
interface Stage {
  pair: Pair;
  model: Model;
  /** Those of the stories that were played on it. */
  seeds: number[];
}

/**
 * Random sequences of everything agents and people can do, over HTTP, on both databases at once, against a model of
 * maps; equal replies on both, and the shortest story where anything differs
 * (spec/invariants A6, A7, I2, I3, I4, T2, D12, and points, badges and streaks).
 */
export const model: Harness = {
  name: "model",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const wanted =
      options.seed !== undefined ? 1 : options.longHours ? SEQUENCES_PER_HOUR * options.longHours : SEQUENCES;
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    const figures = { seed: base, sequences: 0, steps: 0, requests: 0 };
    const stages: (Stage | undefined)[] = [undefined, undefined];
    const replies = new Map<string, number>();

    async function stageOf(kind: number): Promise<Stage> {
      const held = stages[kind];
      if (held && held.seeds.length < STORIES_PER_PAIR) return held;
      await close(kind);
      const rules = RULES[kind];
      if (!rules) throw new Error("no rules");
      const pair = await openPair(settingsOf(rules));
      return (stages[kind] = { pair, model: new Model(pair.now, rules), seeds: [] });
    }

    /** Ends the two servers, and returns what `parley doctor` had to say about what they leave behind. */
    async function finish(kind: number): Promise<string[]> {
      const held = stages[kind];
      stages[kind] = undefined;
      if (!held) return [];
      await using pair = held.pair;
      // Clocks went on while the loops slept; awake, they have nothing left to do.
      await pair.sweep();
      return await pair.examine();
    }

    async function close(kind: number): Promise<void> {
      const seeds = stages[kind]?.seeds ?? [];
      const broken = await finish(kind);
      if (broken.length === 0) return;
      // One of the stories did it: each is played once more, on servers of its own.
      for (const seed of seeds) {
        await check(seed);
        const found = await finish(kind);
        if (found.length === 0) continue;
        failures.push({ says: found.join("; "), repeat: `npm run prove -- model --seed ${seed}` });
        return;
      }
      const says = `${broken.join("; ")}, after ${seeds.length} stories together`;
      failures.push({ says, repeat: `npm run prove -- model --seed ${seeds[0]}, and the next ${seeds.length - 1}` });
    }

    /** When the story that is being shrunk failed first. */
    let failedAt: number | undefined;

    /** Plays one story to its end; the servers of one that failed are of no further use. */
    async function play(seed: number, commands: Iterable<fc.AsyncCommand<Story, object>>): Promise<void> {
      // A story that is not played counts as passed. Shrinking then ends with the shortest failing story so far.
      if (failedAt !== undefined && performance.now() - failedAt > SHRINK_MS) return;
      const kind = Math.abs(seed % RULES.length);
      const stage = await stageOf(kind);
      stage.seeds.push(seed);
      // Whatever earlier stories left open is over; each begins at an hour of the week that its seed chooses.
      const gapMs = 2 * WEEK - ((stage.model.now - SOME_MONDAY) % WEEK) + HOUR * (Math.abs(seed) % 168);
      await stage.pair.advance(gapMs, true);
      stage.model.now += gapMs;
      const story = new Story(stage.model, stage.pair, stage.seeds.length);
      try {
        await fc.asyncModelRun(() => ({ model: story, real: {} }), commands);
        await story.end();
      } catch (error) {
        stages[kind] = undefined;
        await stage.pair[Symbol.asyncDispose]();
        failedAt ??= performance.now();
        const says = error instanceof Error ? error.message : String(error);
        throw new Error([...story.lines, says].join("\n    "), { cause: error });
      } finally {
        for (const line of story.lines) {
          const status = / -> (\d+)$/.exec(line)?.[1];
          if (status) replies.set(status, (replies.get(status) ?? 0) + 1);
        }
        if (options.trace) console.error(story.lines.join("\n"), "\n");
      }
      figures.steps += [...commands].length;
    }

    /** Plays the story of a seed, and shrinks it if it fails; returns the shortest. */
    async function check(seed: number): Promise<string | null> {
      const property = fc.asyncProperty(storyOf(STEPS), (commands) => play(seed, commands));
      const { failed, errorInstance } = await fc.check(property, { seed, numRuns: 1 });
      failedAt = undefined;
      if (!failed) return null;
      return errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
    }

    for (let i = 0; i < wanted && performance.now() < until; i += 1) {
      const seed = (base + i) | 0;
      const story = await check(seed);
      figures.sequences += 1;
      if (story === null) continue;
      failures.push({ says: `the shortest story:\n    ${story}`, repeat: `npm run prove -- model --seed ${seed}` });
      if (options.stopAtFirstFailure) break;
    }
    for (const kind of stages.keys()) await close(kind);

    figures.requests = [...replies.values()].reduce((sum, count) => sum + count, 0);
    const inBox = options.boxMs !== undefined || options.seed !== undefined || options.stopAtFirstFailure === true;
    if (!inBox) failures.push(...floorFailures(figures.sequences, wanted, replies, base));
    const said = Object.fromEntries([...replies].sort().map(([status, count]) => [`answered ${status}`, count]));
    return { figures: { ...figures, ...said }, failures };
  },
};

/** Stories in which nothing was ever refused, replayed or too late would prove little. */
function floorFailures(
  sequences: number,
  wanted: number,
  replies: ReadonlyMap<string, number>,
  seed: number,
): Failure[] {
  const repeat = `npm run prove -- model, which began with seed ${seed}`;
  const missing = ["200", "201", "204", "400", "403", "404", "409", "410", "429"].filter(
    (status) => !replies.has(status),
  );
  return [
    ...(sequences < wanted ? [{ says: `only ${sequences} of ${wanted} sequences were played`, repeat }] : []),
    ...(missing.length > 0 ? [{ says: `nothing was ever answered ${missing.join(", ")}`, repeat }] : []),
  ];
}
