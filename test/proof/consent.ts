import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type Played, playConsent } from "./consent-play.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { openPlayer, type Player } from "./player.ts";

const STORIES = 20;
const STORIES_PER_HOUR = 1200;
/** So many stories share one process. */
const AT_ONCE = 4;
const MEMORY = "/dev/shm";
const WORKER = new URL("./consent-worker.ts", import.meta.url);

/**
 * An asker with a key, a mailbox and an app in Slack of its own wants its calls approved without the people who are
 * asked. People meanwhile answer, quote, paste, forward and decide by mail, link and Slack, on a real server with every
 * channel on loopback. Every approval was made by those who were asked, each by a means that the asker never saw, and
 * every answer was given to the question that it answers (spec/security 2; spec/invariants N1, N2).
 */
export const consent: Harness = {
  name: "consent",
  run: (options) => (options.seed === undefined ? playMany(options) : playOne(options.seed, options)),
};

async function playOne(seed: number, { trace, boxMs }: HarnessOptions): Promise<HarnessReport> {
  const tally = new Tally(seed);
  tally.add(await playConsent(seed, { trace, endsAt: endOf(boxMs) }));
  return tally.report();
}

async function playMany(options: HarnessOptions): Promise<HarnessReport> {
  const { longHours, steps = Infinity, boxMs, stopAtFirstFailure } = options;
  const base = firstSeedOf(options);
  const byStories = longHours ? Math.ceil(STORIES_PER_HOUR * longHours) : STORIES;
  const wanted = options.steps === undefined && boxMs === undefined ? byStories : Infinity;
  const endsAt = endOf(boxMs);
  const tally = new Tally(base);
  let begun = 0;
  const next = (): number | null => {
    const isOver = begun >= wanted || tally.steps >= steps || Date.now() >= endsAt;
    if (isOver || (tally.failures.length > 0 && stopAtFirstFailure)) return null;
    begun += 1;
    return base + begun - 1;
  };
  const playWith = async (player: Player<Played>): Promise<void> => {
    for (let seed = next(); seed !== null; seed = next()) tally.add(await player.play(seed));
  };
  // The stores of stories are thrown away: memory holds them as well as a disk.
  const env = { CONSENT_ENDS_AT: String(endsAt), ...(existsSync(MEMORY) && { TMPDIR: MEMORY }) };
  const died = (seed: number): Played => ({ ...NOTHING, seed, error: "the process that played it ended" });
  const players = Array.from({ length: availableParallelism() }, () => openPlayer(WORKER, died, env));
  await Promise.all(players.flatMap((player) => Array.from({ length: AT_ONCE }, () => playWith(player))));
  for (const player of players) player.close();
  return tally.report();
}

const NOTHING = { steps: 0, calls: 0, approvals: 0, broken: null, error: null };
const endOf = (boxMs: number | undefined): number => (boxMs === undefined ? Infinity : Date.now() + boxMs);

/** The findings so far. */
class Tally {
  stories = 0;
  steps = 0;
  readonly failures: Failure[] = [];
  private readonly base: number;
  private readonly startedAt = performance.now();
  private calls = 0;
  private approvals = 0;

  constructor(base: number) {
    this.base = base;
  }

  /** @throws an error of the harness itself, which is no broken promise */
  add({ seed, steps, calls, approvals, broken, error }: Played): void {
    if (error !== null) throw new Error(`seed ${seed}: ${error}`);
    this.stories += 1;
    this.steps += steps;
    this.calls += calls;
    this.approvals += approvals;
    if (broken !== null) this.failures.push({ says: broken, repeat: `npm run prove -- consent --seed ${seed}` });
  }

  report(): HarnessReport {
    const { base: seed, stories, steps, calls, approvals, failures } = this;
    const perSecond = Math.round((steps * 1000) / (performance.now() - this.startedAt));
    return { figures: { seed, stories, steps, "steps per second": perSecond, calls, approvals }, failures };
  }
}
