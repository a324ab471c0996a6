import { anyStep } from "./consent-steps.ts";
import { ConsentStory } from "./consent-story.ts";
import { openConsentWorld } from "./consent-world.ts";
import { diceOf } from "./sim-dice.ts";

/** One story is so many steps on a server of its own. */
const STEPS = 150;
const LAST_LINES = 30;
const DATABASES = ["sqlite", "postgres"] as const;

/** One story that was played. */
export interface Played {
  seed: number;
  steps: number;
  calls: number;
  approvals: number;
  /** The first promise that was broken, with the steps before it. */
  broken: string | null;
  /** An error of the harness itself. */
  error: string | null;
}

interface PlayOptions {
  trace: boolean;
  /** The wall time after which no further step begins. */
  endsAt: number;
}

/** Plays the story of a seed. */
export async function playConsent(seed: number, options: PlayOptions): Promise<Played> {
  const played: Played = { seed, steps: 0, calls: 0, approvals: 0, broken: null, error: null };
  try {
    await playInto(played, options);
  } catch (error) {
    played.error = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  return played;
}

async function playInto(played: Played, { trace, endsAt }: PlayOptions): Promise<void> {
  await using on = await openConsentWorld(DATABASES[played.seed % DATABASES.length] ?? "sqlite");
  const story = new ConsentStory(on, diceOf(played.seed));
  for (let i = 0; i < STEPS && Date.now() < endsAt; i += 1) {
    await anyStep(story);
    await on.settled();
    played.steps += 1;
    const { broken, calls, approvals } = await story.look();
    played.calls += calls;
    played.approvals += approvals;
    if (broken !== null) played.broken = [broken, ...story.lines.slice(-LAST_LINES)].join("\n    ");
    if (trace) console.error(story.lines.splice(0).join("\n"));
    if (broken !== null) return;
  }
}
