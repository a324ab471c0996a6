import { type DatabaseName, DATABASES } from "../support/world.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { openSite, type Site } from "./kill-process.ts";
import { ended, pause, started, until } from "./kill-steps.ts";
import { type Agents, checkCalls, workUntilGone } from "./outcomes-load.ts";
import { type Call, problemsAtEnd, type Stored } from "./outcomes-ledger.ts";
import { diceOf } from "./sim-dice.ts";

/** The kills on each database. */
const KILLS = 10;
const LONG_KILLS_PER_HOUR = 900;
const AGENTS = 3;
/** How long a server is under load before it is killed. */
const LOAD_MS = { least: 150, most: 900 };
/** The time of a report, which passes before every so many starts. */
const REPORT_TIME_MS = 3_600_000 + 60_000;
const KILLS_OF_AN_HOUR = 4;
const GIVEN_UP_WITHIN_MS = 20_000;
const NEWEST = 30;
const MOST_TOLD = 20;
const ENDS = ["done", "failed", "withdrawn", "unknown", "not_run", "not_reported"];
const LIMITS = { PARLEY_A2H_CREATES_PER_MINUTE: "1000000" };

interface Story {
  kills: number;
  calls: number;
  acknowledged: number;
  reports: number;
  ends: Record<string, number>;
}

/**
 * Agents that promise reports, claim and report, while the shipped server is killed at random times, and so are they:
 * every approved call has one end within its time, an acknowledged one stays, one run has the call, and the record holds
 * each change once (spec/invariants W4, D1).
 */
export const outcomes: Harness = {
  name: "outcomes",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = firstSeedOf(options);
    const repeat = `npm run prove -- outcomes --seed ${seed}`;
    const failures: Failure[] = [];
    const stories = await Promise.all(
      DATABASES.map((on) =>
        tellStory(on, { ...options, seed }, (says) => failures.push({ says: `on ${on}: ${says}`, repeat })),
      ),
    );
    if (options.boxMs === undefined) {
      for (const says of floorProblems(stories)) failures.push({ says, repeat });
    }
    return { figures: { seed, ...figuresOf(stories) }, failures: failures.slice(0, MOST_TOLD) };
  },
};

async function tellStory(
  on: DatabaseName,
  options: HarnessOptions & { seed: number },
  onProblem: (says: string) => void,
): Promise<Story> {
  const { boxMs, longHours, trace, stopAtFirstFailure } = options;
  const dice = diceOf(options.seed);
  const kills = longHours ? Math.ceil(LONG_KILLS_PER_HOUR * longHours) : KILLS;
  const over = performance.now() + (boxMs ?? Infinity);
  let problems = 0;
  await using site = await openSite(on, LIMITS);
  const keys: string[] = [];
  for (let i = 0; i < AGENTS; i += 1) {
    keys.push(await site.run(["keys", "create", `agent-${i}`, "--scope", "agent", "--self-respond"]));
  }
  const agents: Agents = { keys, calls: [], random: () => dice.int(2 ** 32) / 2 ** 32, acknowledged: 0, problems: [] };
  const told = (): void => {
    for (const says of agents.problems.splice(0)) {
      problems += 1;
      onProblem(says);
    }
  };
  const isOver = () => performance.now() > over || (stopAtFirstFailure === true && problems > 0);

  let done = 0;
  while (done < kills && !isOver()) {
    if (done % KILLS_OF_AN_HOUR === KILLS_OF_AN_HOUR - 1) await site.sleepFor(REPORT_TIME_MS);
    const server = await started(site);
    const checked = checkCalls(agents, server.url, newest(agents));
    const working = checked.then(() => workUntilGone(agents, server.url));
    // Some die while they settle what they found.
    if (done % 3 !== 0) await checked;
    await pause(dice.between(LOAD_MS.least, LOAD_MS.most));
    await ended(server, "SIGKILL");
    await working;
    done += 1;
    if (trace) console.error(`outcomes, ${on}: kill ${done}, ${agents.calls.length} calls`);
    told();
  }
  const ends = isOver() && stopAtFirstFailure && problems > 0 ? {} : await endAll(site, agents);
  told();
  const reports = agents.calls.filter(({ report }) => report?.told === "acknowledged").length;
  return { kills: done, calls: agents.calls.length, acknowledged: agents.acknowledged, reports, ends };
}

const newest = ({ calls, random }: Agents): Call[] => {
  const others = Array.from({ length: NEWEST / 2 }, () => calls[Math.floor(random() * calls.length)]);
  return [...new Set([...calls.slice(-NEWEST), ...others.filter((call) => call !== undefined)])];
};

/** Lets the time of every report pass, and then looks at each call, in a reply and in the store. */
async function endAll(site: Site, agents: Agents): Promise<Record<string, number>> {
  const last = await started(site);
  await checkCalls(agents, last.url, agents.calls);
  await ended(last, "SIGKILL");
  await site.sleepFor(REPORT_TIME_MS);
  const server = await started(site);
  const left = async () =>
    Number(
      (await site.query(`SELECT count(*) AS n FROM call_outcomes WHERE state IN ('awaited', 'started')`))[0]?.["n"],
    );
  await until(GIVEN_UP_WITHIN_MS, async () => (await left()) === 0);
  await checkCalls(agents, server.url, agents.calls);
  await ended(server, "SIGTERM");
  const stored = await storedCalls(site);
  const ends: Record<string, number> = {};
  for (const call of agents.calls) {
    const own = call.askId === null ? undefined : stored.get(call.askId);
    agents.problems.push(...problemsAtEnd(call, own));
    if (call.approved !== "acknowledged") continue;
    const state = own?.state ?? "not_reported";
    ends[state] = (ends[state] ?? 0) + 1;
    if (!ENDS.includes(state)) agents.problems.push(`W4: ${call.id} ended as ${state}`);
  }
  agents.problems.push(...(await site.examine()));
  return ends;
}

async function storedCalls(site: Site): Promise<Map<string, Stored>> {
  const stored = new Map<string, Stored>();
  for (const row of await site.query(`SELECT ask_id, state, result_digest, run FROM call_outcomes`)) {
    stored.set(String(row["ask_id"]), {
      state: String(row["state"]),
      digest: row["result_digest"] as string | null,
      run: row["run"] as string | null,
      claims: [],
      changes: [],
    });
  }
  const entries = await site.query(
    `SELECT ask_id, action, data FROM audit WHERE action IN ('function_call.outcome', 'function_call.claimed') ORDER BY id`,
  );
  for (const { ask_id: id, action, data: text } of entries) {
    const own = stored.get(String(id));
    const data = JSON.parse(String(text)) as { state: string; run: string };
    if (action === "function_call.claimed") own?.claims.push(data.run);
    else own?.changes.push(data.state);
  }
  return stored;
}

/** Returns the ends that no call had: a run without them shows less than it says. */
function floorProblems(stories: readonly Story[]): string[] {
  const missing = ENDS.filter((state) => stories.every(({ ends }) => !ends[state]));
  const reports = stories.reduce((sum, story) => sum + story.reports, 0);
  return [
    ...(missing.length > 0 ? [`no call ended as ${missing.join(", ")}`] : []),
    ...(reports < KILLS ? [`only ${reports} reports were acknowledged`] : []),
  ];
}

function figuresOf(stories: readonly Story[]): Record<string, number | string> {
  const each = (pick: (story: Story) => number) => stories.map(pick).join(" and ");
  return {
    [`kills on ${DATABASES.join(" and ")}`]: each(({ kills }) => kills),
    calls: each(({ calls }) => calls),
    acknowledged: each(({ acknowledged }) => acknowledged),
    "reports acknowledged": each(({ reports }) => reports),
    ...Object.fromEntries(ENDS.map((state) => [state, each(({ ends }) => ends[state] ?? 0)])),
  };
}
