import { setTimeout as sleep } from "node:timers/promises";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import type { Failure, Harness, HarnessOptions, HarnessReport } from "./harness.ts";
import { checkFeeds, checkStreams, checkWaits, eventsOf, waitLateness } from "./race-check-news.ts";
import { checkKeys, checkPeople, checkQuota, checkWindows, longestReplayMs } from "./race-check-parties.ts";
import { checkOrder, checkReads, checkReplies, checkStory, tellStories, type Story } from "./race-checks.ts";
import { median, runDirected } from "./race-directed.ts";
import { openDoor, type Door } from "./race-door.ts";
import { runLoad } from "./race-load.ts";
import { groupBy, ofKind, openLog, type AskFacts, type Log } from "./race-log.ts";
import { startNodes, type Nodes } from "./race-nodes.ts";
import { diceOf } from "./sim-dice.ts";
import type { Follower } from "./race-streams.ts";

const OPERATIONS = 40_000;
const BOX_MS = 75_000;
/**
 * The minimum of one round. Two cores of their own give about 750 operations a second, shared with two other jobs 240,
 * with eight 110: the floor is half of the last.
 */
const FLOORS: Readonly<Record<string, number>> = {
  operations: 5000,
  closed: 50,
  expired: 50,
  cancelled: 20,
  keys: 20,
  streamCuts: 50,
};
const REST_WITHIN_MS = 30_000;
const REPLAY_WITHIN_MS = 2000;
const MOST_TOLD = 20;

type Figures = Record<string, number | string>;
interface Round {
  figures: Figures;
  problems: string[];
}

/** Row 5 of spec/invariants 3: what only real concurrency on real servers shows. */
export const race: Harness = {
  name: "race",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const until = performance.now() + (options.longHours ?? 0) * 3_600_000;
    let seed = options.seed ?? options.firstSeed ?? Math.floor(Math.random() * 1e8);
    const first = seed;
    const failures: Failure[] = [];
    const sums: Figures = {};
    do {
      const { figures, problems } = await runRound(seed, options);
      const missed = options.boxMs === undefined ? belowFloors(figures) : [];
      const repeat = `npm run prove -- race --seed ${seed}`;
      failures.push(...[...problems, ...missed].slice(0, MOST_TOLD).map((says) => ({ says, repeat })));
      addUp(sums, figures);
      seed += 1;
    } while (performance.now() < until && failures.length === 0);
    return { figures: { seed: first, ...sums }, failures };
  },
};

async function runRound(seed: number, options: HarnessOptions): Promise<Round> {
  const begun = performance.now();
  const trace = (text: string) =>
    options.trace && console.error(`race ${seed}, ${round((performance.now() - begun) / 1000)} s: ${text}`);
  const log = openLog();
  await using nodes = await startNodes();
  const door = openDoor(nodes.urls, log);
  trace("the servers are ready");
  const isOver = (problems: readonly string[]) => options.stopAtFirstFailure === true && problems.length > 0;
  const followers: Follower[] = [];
  try {
    const directed = await runDirected({ nodes, door, log });
    const figures: Figures = {
      "wake median, ms": round(median(directed.wakes)),
      "wake, ms": round(Math.max(...directed.wakes)),
    };
    trace(`directed races are over, ${log.operations.length} operations`);
    const early = [...directed.problems, ...checkReplies(log)];
    if (isOver(early)) return { figures, problems: early };

    const started = performance.now();
    const boxMs = Math.min(BOX_MS, options.boxMs ?? BOX_MS);
    const before = log.operations.length;
    followers.push(
      ...(await runLoad({ urls: nodes.urls, log, door, dice: diceOf(seed), operations: OPERATIONS, boxMs })),
    );
    const seconds = (performance.now() - started) / 1000;
    Object.assign(figures, { operations: log.operations.length - before, seconds: round(seconds) });
    trace(`the load is over, ${log.operations.length} operations`);

    if (isOver(checkReplies(log))) return { figures, problems: checkReplies(log) };
    const problems = [...directed.problems, ...(await comeToRest(log, door)), ...checkReplies(log)];
    if (isOver(problems)) return { figures, problems };
    const told = tellStories(log);
    await readToTheEnd(followers, told.stories);
    trace("everything is at rest");
    problems.push(...told.problems, ...judge(log, told.stories));
    trace("the log is judged");
    problems.push(...(await examine(nodes)), ...errorsOf(nodes));
    trace("the rows are examined");
    return { figures: { ...figures, ...figuresOf(log, told.stories) }, problems };
  } finally {
    await Promise.all(followers.map((follower) => follower.stop()));
    door.close();
  }
}

/** Waits until every ask has ended, and reads each once more. */
async function comeToRest(log: Log, door: Door): Promise<string[]> {
  const until = performance.now() + REST_WITHIN_MS;
  let open = [...log.asks.values()];
  for (let pass = 0; open.length > 0; pass += 1) {
    if (performance.now() > until) return [`${open.length} asks have not ended long after their deadline`];
    const settled = await readAll(door, open, pass);
    open = open.filter(({ id }) => !settled.has(id));
    await sleep(200);
  }
  await readAll(door, [...log.asks.values()], 0);
  return [];
}

/** Reads the asks, each agent's in one request, and returns those that have ended. */
async function readAll(door: Door, asks: readonly AskFacts[], pass: number): Promise<Set<string>> {
  const settled = new Set<string>();
  let i = pass;
  for (const [agent, own] of groupBy(asks, (one) => one.agent)) {
    const { readings } = await door.pollMany(
      { client: 0, node: (i += 1) % 3 },
      agent,
      own.map(({ id }) => id),
    );
    for (const { ask, status } of readings) if (status === "CLOSED" || status === "EXPIRED") settled.add(ask);
  }
  return settled;
}

/** Gives the followers time for what they have not got yet. */
async function readToTheEnd(followers: readonly Follower[], stories: readonly Story[]): Promise<void> {
  const owned = groupBy(stories, ({ facts }) => facts.agent);
  const until = performance.now() + REST_WITHIN_MS;
  const isBehind = ({ agent, events }: Follower) =>
    events.length < eventsOf(owned.get(agent) ?? []) && events.every(({ reading }) => reading !== null);
  while (followers.some(isBehind) && performance.now() < until) await sleep(50);
}

function judge(log: Log, stories: readonly Story[]): string[] {
  return [
    ...stories.flatMap((story) => [
      ...checkStory(story),
      ...checkReads(story),
      ...checkOrder(story),
      ...checkWaits(story),
    ]),
    ...checkKeys(log),
    ...checkPeople(log, stories),
    ...checkWindows(log),
    ...checkQuota(log, stories),
    ...checkFeeds(log, stories),
    ...checkStreams(log, stories),
    ...slowReplays(log),
  ];
}

/** I5: of two in flight one runs and the other replays in time; a busy machine's own slowness is not counted. */
function slowReplays(log: Log): string[] {
  const longest = longestReplayMs(log);
  const slowest = Math.max(0, ...ofKind(log, "read").flatMap((one) => (one.wait ? [] : [one.end - one.start])));
  return longest > REPLAY_WITHIN_MS + slowest ? [`a replay took ${round(longest)} ms`] : [];
}

async function examine(nodes: Nodes): Promise<string[]> {
  const db = await openPostgres({ url: nodes.database, onError: () => {}, waitMs: 60_000 });
  try {
    const findings = await examineStore({ db }, { quick: false });
    return findings
      .filter(({ offenders }) => offenders.length > 0)
      .map(
        ({ check, promise, offenders }) => `doctor, ${check}: ${promise}; not so: ${offenders.slice(0, 3).join(", ")}`,
      );
  } finally {
    await db.close();
  }
}

/** Returns the lines that the servers logged as errors. */
function errorsOf(nodes: Nodes): string[] {
  return nodes.complaints().filter((line) => /"level":[56]0/.test(line));
}

function figuresOf(log: Log, stories: readonly Story[]): Figures {
  const answers = ofKind(log, "answer");
  const late = waitLateness(stories);
  const sorted = late.afterAnswer.toSorted((one, other) => one - other);
  return {
    asks: stories.length,
    closed: stories.filter(({ last }) => last.status === "CLOSED").length,
    expired: stories.filter(({ last }) => last.status === "EXPIRED" && !last.cancelled).length,
    cancelled: stories.filter(({ last }) => last.cancelled).length,
    accepted: answers.filter(({ status }) => status === 201).length,
    refused: answers.filter(({ status }) => status >= 400).length,
    keys: new Set(ofKind(log, "create").flatMap(({ agent, key }) => (key === undefined ? [] : [agent]))).size,
    streamEvents: log.streams.reduce((sum, { events }) => sum + events.length, 0),
    streamCuts: log.streams.reduce((sum, { cuts }) => sum + cuts, 0),
    "wait p99 under load, ms": round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
    "wait overtime, ms": round(late.afterTime),
    "replay, ms": round(longestReplayMs(log)),
  };
}

function belowFloors(figures: Figures): string[] {
  return Object.entries(FLOORS)
    .filter(([name, least]) => Number(figures[name] ?? 0) < least)
    .map(([name, least]) => `only ${figures[name] ?? 0} ${name}; at least ${least} are needed to mean anything`);
}

/** Counts are summed over rounds; of times in ms the longest stays. */
function addUp(sums: Figures, figures: Figures): void {
  for (const [name, value] of Object.entries(figures)) {
    const [sum, one] = [Number(sums[name] ?? 0), Number(value)];
    sums[name] = name.endsWith("ms") ? Math.max(sum, one) : round(sum + one);
  }
}

const round = (number: number): number => Math.round(number * 10) / 10;
