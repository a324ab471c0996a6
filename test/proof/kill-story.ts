import type { DatabaseName } from "../support/world.ts";
import { firstStart, manyPending } from "./kill-aside.ts";
import { checkLedger, checkPoints, forgetAll, openWaiters, settleUnknown } from "./kill-check.ts";
import { openCrowd, send, startLoad } from "./kill-load.ts";
import { assignmentDay } from "./kill-assign.ts";
import { conversationDay } from "./kill-conversation.ts";
import { relayDay } from "./kill-relay.ts";
import { type Ended, isRunning, openSite, type Process, type StartOptions } from "./kill-process.ts";
import { type Asked, openLedger } from "./ledger.ts";

/** One start of the server, and what becomes of it. */
export interface Step {
  kind:
    | "load" // killed under load
    | "stop" // stopped politely under load, with clients waiting
    | "start" // killed while it starts
    | "start-late" // killed while it settles what came due meanwhile
    | "start-much-later" // killed while it sweeps out what is old
    | "first-start" // killed in a first start, on a site of its own
    | "second-start" // another server is started beside it
    | "newer-schema" // the data is from a later version
    | "relay" // killed at a point of a job's life, on a site of its own
    | "assign" // killed at a point of a task's life, on a site of its own
    | "conversation" // killed at a point of a conversation's life, on a site of its own
    | "many-pending"; // with 10,000 open questions, on a site of its own
  /** Left out, the time of the kill is random. */
  at?: { point: string; hit: number };
}

/** The results of the story. */
export interface Story {
  cycles: number;
  pointsHit: string[];
  acknowledged: number;
  unknown: number;
  kept: number;
  lost: number;
  readyMs: number[];
  readyWithManyMs: number;
  readyAfterManyMs: number;
  expired: number;
  latenessMs: number;
  stopMs: number;
}

/** The means of a part of the story that runs beside the others. */
export interface Aside {
  on: DatabaseName;
  step: Step;
  story: Story;
  report: (problems: readonly string[]) => void;
}

export interface StoryOptions {
  on: DatabaseName;
  steps: readonly Step[];
  random: () => number;
  trace: (line: string) => void;
  isOver: () => boolean;
  onProblem: (says: string) => void;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How long a server is under load before it is killed. */
const LOAD_MS = { least: 60, most: 500 };
const POINT_WITHIN_MS = 12_000;
const STOP_WITHIN_MS = 10_000;
const LATENESS_MS = 1000;
const SWEPT_WITHIN_MS = 10_000;
/** After each start the newest questions are looked at again and some of the others; at the end, all. */
const NEWEST = 250;
const OTHERS = 50;

/** Runs the steps one after another on one site, and reports every promise that did not hold. */
export async function tellStory(options: StoryOptions): Promise<Story> {
  const { on, random, trace } = options;
  await using site = await openSite(on);
  const ledger = openLedger();
  const crowd = openCrowd(ledger, random);
  const story: Story = {
    cycles: 0,
    pointsHit: [],
    acknowledged: 0,
    unknown: 0,
    kept: 0,
    lost: 0,
    readyMs: [],
    expired: 0,
    readyWithManyMs: 0,
    readyAfterManyMs: 0,
    latenessMs: 0,
    stopMs: 0,
  };

  for (const step of options.steps) {
    if (options.isOver()) break;
    trace(`${step.kind}${step.at ? ` at ${step.at.point}, time ${step.at.hit}` : ""}`);
    await take(step);
    report(crowd.problems.splice(0));
  }
  if (!options.isOver()) {
    const last = await begin();
    await check(last, ledger.asked);
    await end(last, "SIGTERM");
    report(await site.examine());
  }
  story.acknowledged = crowd.acknowledged;
  return story;

  function take(step: Step): Promise<void> {
    switch (step.kind) {
      case "load":
        return step.at ? dyingUnderLoad(step.at) : underLoad();
      case "stop":
        return stopping(step);
      case "start":
        return dyingStart(step);
      case "start-late":
        return startLate(step);
      case "start-much-later":
        return startMuchLater(step);
      case "second-start":
        return secondStart();
      case "newer-schema":
        return newerSchema();
      case "first-start":
        return firstStart({ on, step, story, report });
      case "relay":
        return relayDay({ on, step, story, report });
      case "assign":
        return assignmentDay({ on, step, story, report });
      case "conversation":
        return conversationDay({ on, step, story, report });
      case "many-pending":
        return manyPending({ on, step, story, report });
    }
  }

  function report(problems: readonly string[]): void {
    for (const problem of problems) {
      trace(`NOT SO: ${problem}`);
      options.onProblem(problem);
    }
  }

  /** Starts a server that must come up, with nothing overdue before its first request (T1). */
  async function begin(start?: StartOptions): Promise<Process> {
    const startedAt = site.now();
    const outcome = await site.start(start);
    if (!isRunning(outcome)) throw new Error(`the server did not start: ${JSON.stringify(outcome)}`);
    const [due] = await site.query(
      `SELECT count(*) AS n FROM questions WHERE state = 'open' AND expires_at <= ${startedAt}`,
    );
    if (Number(due?.["n"]) > 0) report([`T1: ${due?.["n"]} questions were overdue when the server was ready`]);
    story.readyMs.push(outcome.readyMs);
    return outcome;
  }

  /** Ends a server, by a signal or by its point, and reads from the rows how late deadlines were kept. */
  async function end(server: Process, signal?: NodeJS.Signals): Promise<Ended> {
    if (signal) server.signal(signal);
    const ended = await server.ended;
    const rows =
      await site.query(`SELECT a.expires_at, s.created_at FROM outcomes s JOIN questions a ON a.ask_id = s.ask_id
      WHERE s.status = 'expired' AND s.created_at > ${server.readyAt}`);
    for (const row of rows) {
      const lateMs = Number(row["created_at"]) - Math.max(Number(row["expires_at"]), server.readyAt);
      story.latenessMs = Math.max(story.latenessMs, lateMs);
      if (lateMs > LATENESS_MS) report([`T1: a question was settled ${lateMs} ms after its deadline`]);
    }
    story.expired += rows.length;
    return ended;
  }

  /** Settles what is unknown and holds what there is against the ledger. */
  async function check({ url }: Process, entries: readonly Asked[] = recent()): Promise<void> {
    const problems: string[] = [];
    const { kept, lost } = await settleUnknown(crowd, url, problems);
    story.kept += kept;
    story.lost += lost;
    story.unknown += kept + lost;
    await checkLedger(crowd, url, entries, problems);
    await checkPoints(crowd, url, problems);
    report(problems);
  }

  function recent() {
    const all = ledger.asked;
    const others = Array.from({ length: OTHERS }, () => all[Math.floor(random() * all.length)]);
    return [...new Set([...all.slice(-NEWEST), ...others.filter((entry) => entry !== undefined)])];
  }

  function someTime(): Promise<void> {
    return pause(LOAD_MS.least + random() * (LOAD_MS.most - LOAD_MS.least));
  }

  /** Sleeps so that deadlines pass while no server is running, and one about when the server is under load. */
  async function sleepTowardsADeadline(): Promise<void> {
    if (story.readyMs.length === 0) return;
    const open = await site.query(`SELECT expires_at FROM questions WHERE state = 'open' ORDER BY expires_at LIMIT 20`);
    const next = Number(open[Math.floor(random() * open.length)]?.["expires_at"] ?? 0);
    const readyMs = story.readyMs.at(-1) ?? SECOND_MS;
    await site.sleepFor(Math.max(0, next - site.now() - readyMs - SECOND_MS * random()));
  }

  async function underLoad(): Promise<void> {
    await sleepTowardsADeadline();
    const server = await begin();
    await check(server);
    const load = startLoad(crowd, server.url);
    await someTime();
    await end(server, "SIGKILL");
    await load.stop();
    story.cycles += 1;
  }

  async function dyingUnderLoad(at: NonNullable<Step["at"]>): Promise<void> {
    const outcome = await site.start({ at });
    if (!isRunning(outcome)) return noteDeath(outcome, at);
    const load = startLoad(crowd, outcome.url);
    await noteDeathOf(outcome, at);
    await load.stop();
  }

  /** Everybody who waits is answered, streams end in order, and the process ends by itself (R4). */
  async function stopping({ at }: Step): Promise<void> {
    const server = await begin(at && { at });
    if (!at) await check(server);
    const waiters = await openWaiters(crowd, server.url);
    const load = startLoad(crowd, server.url);
    await someTime();
    const asked = performance.now();
    if (at) {
      server.signal("SIGTERM");
      await noteDeathOf(server, at);
    } else {
      const late = setTimeout(() => server.signal("SIGKILL"), STOP_WITHIN_MS);
      const { code, signal } = await end(server, "SIGTERM");
      clearTimeout(late);
      story.stopMs = Math.max(story.stopMs, performance.now() - asked);
      if (code !== 0) report([`R4: after SIGTERM the server ended with ${signal ?? code}`]);
      story.cycles += 1;
    }
    await load.stop();
    const problems: string[] = [];
    await waiters.letGo(problems);
    if (!at) report(problems.map((problem) => `R4: ${problem}`));
  }

  async function dyingStart({ at }: Step): Promise<void> {
    const outcome = await site.start(at && { at });
    if (at) await (isRunning(outcome) ? noteDeathOf(outcome, at) : noteDeath(outcome, at));
  }

  async function startLate({ at }: Step): Promise<void> {
    await underLoad();
    await site.sleepFor(3 * MINUTE_MS);
    const [due] = await site.query(
      `SELECT count(*) AS n FROM questions WHERE state = 'open' AND expires_at <= ${site.now()}`,
    );
    if (at) await dyingStart({ kind: "start", at: { ...at, hit: Math.min(at.hit, Number(due?.["n"])) } });
  }

  async function startMuchLater({ at }: Step): Promise<void> {
    await underLoad();
    const before = await begin();
    await check(before, ledger.asked);
    await end(before, "SIGTERM");
    await site.sleepFor(3 * DAY_MS);
    await dyingStart({ kind: "start", ...(at && { at }) });
    report(await site.examine());

    const server = await begin();
    const until = performance.now() + SWEPT_WITHIN_MS;
    const left = async () => Number((await site.query(`SELECT count(*) AS n FROM questions`))[0]?.["n"]);
    while ((await left()) > 0 && performance.now() < until) await pause(20);
    if ((await left()) > 0) report([`${await left()} questions outlived their retention by two days`]);
    forgetAll(crowd);
    await check(server);
    await end(server, "SIGKILL");
  }

  /** A second server on the same data says so in a sentence, and the first one never notices (D8). */
  async function secondStart(): Promise<void> {
    const server = await begin();
    const load = startLoad(crowd, server.url);
    const second = await site.start();
    if (isRunning(second)) report(["D8: two servers run on one SQLite file"]);
    else if (second.code !== 1 || !isOneSentence(second.told) || !second.told.includes("Another Parley server")) {
      report([`D8: the second server ended with ${second.code} and said ${JSON.stringify(second.told)}`]);
    }
    const reply = await send(crowd, server.url, { method: "GET", path: "/human/questions" });
    if (reply?.status !== 200) report(["D8: the first server was disturbed by the second"]);
    await end(server, "SIGKILL");
    await load.stop();
  }

  /** Data of a later version is left alone, with a sentence (D10). */
  async function newerSchema(): Promise<void> {
    // One start, so that there is a schema whatever came before.
    await end(await begin(), "SIGKILL");
    await site.query(`INSERT INTO migrations (number, name) VALUES (999, 'later')`);
    const outcome = await site.start();
    if (isRunning(outcome)) report(["D10: an older server runs on a newer schema"]);
    else if (outcome.code !== 1 || !isOneSentence(outcome.told) || !outcome.told.includes("newer Parley")) {
      report([`D10: on a newer schema the server ended with ${outcome.code} and said ${JSON.stringify(outcome.told)}`]);
    }
    await site.query(`DELETE FROM migrations WHERE number = 999`);
  }

  async function noteDeathOf(server: Process, at: NonNullable<Step["at"]>): Promise<void> {
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      server.signal("SIGKILL");
    }, POINT_WITHIN_MS);
    const ended = await end(server);
    clearTimeout(late);
    noteDeath(isLate ? { ...ended, signal: null, told: "it lived on" } : ended, at);
  }

  function noteDeath({ signal, code, told }: Ended, { point, hit }: NonNullable<Step["at"]>): void {
    if (signal === "SIGKILL") story.pointsHit.push(point);
    else report([`the server was to die at ${point} (time ${hit}) and ended with ${signal ?? code}: ${told}`]);
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const isOneSentence = (told: string): boolean => /^[^\n]+\.\n$/.test(told);
