import { anyStep } from "./consent-steps.ts";
import { ConsentStory } from "./consent-story.ts";
import { openConsentWorld } from "./consent-world.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { diceOf } from "./sim-dice.ts";

const STORIES = 20;
const STORIES_PER_HOUR = 400;
/** One story is so many steps on a server of its own. */
const STEPS = 150;
const LAST_LINES = 30;
const DATABASES = ["sqlite", "postgres"] as const;

/**
 * An asker with a key, a mailbox and an app in Slack of its own wants its calls approved without the people who are
 * asked. People meanwhile answer, quote, paste, forward and decide by mail, link and Slack, on a real server with every
 * channel on loopback. Every approval was made by those who were asked, each by a means that the asker never saw, and
 * every answer was given to the question that it answers (spec/security 2; spec/invariants N1, N2).
 */
export const consent: Harness = {
  name: "consent",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const wanted = options.seed !== undefined ? 1 : options.longHours ? STORIES_PER_HOUR * options.longHours : STORIES;
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    const figures = { seed: base, stories: 0, steps: 0, calls: 0, approvals: 0 };
    for (let seed = base; figures.stories < wanted && performance.now() < until; seed += 1) {
      const says = await play(seed, options.trace, figures, until);
      figures.stories += 1;
      if (says === null) continue;
      failures.push({ says, repeat: `npm run prove -- consent --seed ${seed}` });
      if (options.stopAtFirstFailure) break;
    }
    return { figures, failures };
  },
};

/** Plays one story; returns the first promise that was broken, with the steps before it. */
async function play(
  seed: number,
  trace: boolean,
  figures: { steps: number; calls: number; approvals: number },
  until: number,
): Promise<string | null> {
  await using on = await openConsentWorld(DATABASES[seed % DATABASES.length] ?? "sqlite");
  const story = new ConsentStory(on, diceOf(seed));
  for (let i = 0; i < STEPS && performance.now() < until; i += 1) {
    await anyStep(story);
    await on.settled();
    figures.steps += 1;
    const { broken, calls, approvals } = await story.look();
    figures.calls += calls;
    figures.approvals += approvals;
    if (trace) console.error(story.lines.splice(0).join("\n"));
    if (broken !== null) return [broken, ...story.lines.slice(-LAST_LINES)].join("\n    ");
  }
  return null;
}
