import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseName } from "../support/world.ts";
import { endsOnTime, leaseEndsOnTime, waitsItsTime, type Judge, type Lateness } from "./clock-bounds.ts";
import { KINDS, openWork, type Held, type Open, type Work } from "./clock-work.ts";
import { isRunning, openSite, type Process, type Site } from "./kill-process.ts";
import { ended, pause, started, until } from "./kill-steps.ts";
import type { Dice } from "./sim-dice.ts";

interface StoryOptions {
  on: DatabaseName;
  dice: Dice;
  isOver: () => boolean;
  trace: (line: string) => void;
  onProblem: (says: string) => void;
}

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const YEARS_73_MS = 73 * 365 * 24 * HOUR_MS;
const STEPS_MS = [SECOND_MS, -SECOND_MS, 3 * HOUR_MS, -3 * HOUR_MS, YEARS_73_MS];
const DEADLINE_S = 3600;
/** Everything is looked at once more when so little of it is left. */
const SHORTLY_BEFORE_MS = 5000;
const SHORT_LEASE_S = 5;
/** The lease of a worker that sends heartbeats, on a machine that may be busy with other work. */
const LEASE_S = 30;
const BEAT_EVERY_MS = 2000;
/** Leases are looked at four times a second. */
const SERVER_LOOKS_WITHIN_MS = 1000;
const WAIT_S = 2;
const TOLD_WITHIN_MS = 5000;
const SETTINGS = {
  PARLEY_A2H_CREATES_PER_MINUTE: "1000000",
  PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1000000",
  PARLEY_DELIVERY_RECIPIENTS_PER_HOUR: "1000000",
  PARLEY_RELAY_REQUESTS_PER_SECOND: "1000000",
  PARLEY_LIMITS_EDGE_PER_SECOND: "1000000",
  PARLEY_LIMITS_EDGE_BURST: "1000000",
};

/** Ends the story after its failure has been reported, because nothing can follow. */
class StoryOver extends Error {}

/** Tells one story of a machine and its clock, and returns its figures. */
export async function clockStory(options: StoryOptions): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), "parley-clock-"));
  try {
    const config = join(folder, "parley.yaml");
    writeFileSync(config, JSON.stringify({ repos: [{ name: "shop", worker: true, default: true }] }));
    await using site = await openSite(options.on, { ...SETTINGS, PARLEY_CONFIG: config });
    return await tell(site, options);
  } catch (error) {
    if (error instanceof StoryOver) return {};
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tell(site: Site, options: StoryOptions): Promise<Record<string, number>> {
  const { trace, onProblem, isOver } = options;
  const lateness: Lateness = { deadlines: 0, leases: 0, waits: 0, earlyMs: 0, lateMs: 0, leaseLateMs: 0 };
  let sleptMs = 0;
  const nowMs = () => performance.now() + sleptMs;
  const figures = { steps: 0, starts: 1, refused: 0, accepted: 0 };

  let server = await started(site);
  const key = (name: string, scope: string) => site.run(["keys", "create", name, "--scope", scope]);
  const [agent, planner, worker] = await Promise.all([
    key("asks", "agent"),
    key("plans", "assign"),
    key("works", "executor"),
  ]);
  const work = openWork({ agent, planner, worker }, nowMs);
  work.at(server.url);
  const judge: Judge = { nowMs, lateness, onProblem };
  const dueMs = nowMs() + DEADLINE_S * SECOND_MS;
  const holders = await Promise.all([work.hold("job", LEASE_S), work.hold("task", LEASE_S)]);
  const taskState = await work.task("task-1");
  const alive = holdOn(work, holders, onProblem);

  /** The machine sleeps, and its wall clock has stood still meanwhile: it is set right a moment later. */
  async function sleepUntil(ms: number): Promise<void> {
    // The server has noticed earlier steps of the wall clock by then, and does not take them for a part of the sleep.
    await pause(SERVER_LOOKS_WITHIN_MS);
    const leftMs = Math.max(0, Math.round(ms - nowMs()));
    await alive.sleepWhile(async () => {
      await site.sleepFor(leftMs, { wallMs: -leftMs });
      sleptMs += leftMs;
      await pause(SERVER_LOOKS_WITHIN_MS);
      await site.stepWall(leftMs);
    });
  }

  /** Resolves once every audit entry so far has its place in the chain, in the order in which the events happened. */
  async function sealed(): Promise<void> {
    const waiting = () => site.query("SELECT id FROM audit WHERE seq IS NULL");
    await until(TOLD_WITHIN_MS, async () => (await waiting()).length === 0);
    const { length } = await waiting();
    if (length > 0) onProblem(`X5: ${length} entries of the record had no place in it after ${TOLD_WITHIN_MS} ms`);
  }

  async function batch(lastsS = Math.ceil((dueMs - nowMs()) / SECOND_MS)): Promise<Open[]> {
    return Promise.all(KINDS.map((kind) => work.open(kind, lastsS)));
  }

  async function start(flags: readonly string[] = []): Promise<void> {
    const outcome = await site.start({ flags });
    if (!isRunning(outcome)) {
      onProblem(`T3: the server did not start again: ${outcome.told}`);
      throw new StoryOver();
    }
    server = outcome;
    figures.starts += 1;
    work.at(server.url);
  }

  /** Nothing is lost and nothing is over of what has time left. */
  async function allOpen(opened: readonly Open[], when: string): Promise<void> {
    for (const one of opened) {
      const isOpen = await work.isOpen(one);
      if (isOpen === null) onProblem(`D1: ${one.kind} ${one.id} was acknowledged and is gone ${when}`);
      else if (!isOpen) onProblem(`T3: ${nameOf(one)} ended early: it was over ${when}`);
    }
  }

  const opened: Open[] = [];
  const leases: Promise<void>[] = [];
  /** One step while the server runs, and back. */
  async function stepWhileRunning(byMs: number): Promise<void> {
    trace(`the wall clock goes by ${byMs} ms, and back`);
    opened.push(...(await batch()));
    const hold = async () => leases.push(leaseEndsOnTime(judge, work, await work.hold("job", SHORT_LEASE_S)));
    await hold();
    const waits = opened.slice(-KINDS.length).map((one) => waitsItsTime(judge, work, one, WAIT_S));
    await pause(100);
    await site.stepWall(byMs);
    opened.push(...(await batch()));
    await hold();
    await allOpen(opened, `while the wall clock was off by ${byMs} ms`);
    await pause(options.dice.between(200, 700));
    await site.stepWall(-byMs);
    await Promise.all(waits);
    await allOpen(opened, `after the wall clock had been off by ${byMs} ms`);
    figures.steps += 1;
  }

  /** A start under a clock that was set meanwhile, and is set right later. */
  async function restartUnder(byMs: number): Promise<void> {
    trace(`a start while the wall clock is off by ${byMs} ms`);
    await ended(server, "SIGKILL");
    await site.stepWall(byMs);
    await start();
    // PostgreSQL's clock is its own: no server compares.
    if (site.on === "sqlite") await saying(server, /This machine's clock says .* the store's .*--accept-clock/);
    opened.push(...(await batch()));
    await allOpen(opened, `after a start with a wall clock that is off by ${byMs} ms`);
    await site.stepWall(-byMs);
    await allOpen(opened, "with the wall clock right again");
    figures.steps += 1;
  }

  async function saying({ told }: Process, wanted: RegExp): Promise<void> {
    const said = () => server.told || told;
    await until(TOLD_WITHIN_MS, () => Promise.resolve(wanted.test(said())));
    if (!wanted.test(said()))
      onProblem(`T3: the start was to say ${String(wanted)} and said ${JSON.stringify(said())}`);
  }

  /** The machine was off, and comes back with another time; PostgreSQL's with it. */
  async function bootWith(byMs: number): Promise<void> {
    await ended(server, "SIGKILL");
    if (site.on === "postgres") await site.sleepFor(byMs);
    else {
      site.reboot();
      await site.stepWall(byMs);
    }
    const outcome = await site.start();
    figures.refused += 1;
    if (isRunning(outcome)) {
      onProblem(`T3: a server started although the clock had gone by ${byMs} ms`);
      await ended(outcome, "SIGTERM");
    } else if (outcome.code !== 1 || !/^parley: The clock says [^\n]+--accept-clock\n$/.test(outcome.told)) {
      onProblem(`T3: under a wrong clock the server ended with ${outcome.code} and said ${outcome.told}`);
    }
    await start(["--accept-clock"]);
    figures.accepted += 1;
  }

  async function forwardForGood(): Promise<void> {
    trace("booted 73 years later");
    const before = await batch(DEADLINE_S);
    await bootWith(YEARS_73_MS);
    // A job's time to live is no deadline of an ask; what an executor asks has another one once it was passed on to people.
    await saying(server, /accepted: the store's went from 20.* to 20.*; [34] open deadlines have passed\./);
    for (const one of before) {
      // A request that ended so long ago may have been deleted.
      await until(TOLD_WITHIN_MS, async () => (await work.isOpen(one)) !== true);
      if (await work.isOpen(one)) onProblem(`T3: ${nameOf(one)} ended late: it is open 73 years later`);
    }
  }

  async function backAgain(): Promise<void> {
    trace("booted with the clock set right");
    const meanwhile = await batch(DEADLINE_S);
    await sealed();
    await bootWith(-YEARS_73_MS);
    const acceptedMs = nowMs();
    await saying(
      server,
      /accepted: the store's went back from .*; \d+ open deadlines that were given meanwhile keep the time they had left/,
    );
    await allOpen(meanwhile, "once the clock was accepted");
    await ended(server, "SIGTERM");
    await start();
    await allOpen(meanwhile, "after the next start");
    if (server.told.includes("--accept-clock")) onProblem(`T3: once its clock was accepted it said ${server.told}`);
    await onTime(meanwhile, { heardMs: acceptedMs });
  }

  /** Everything is open until shortly before its end, and over at its end. */
  async function onTime(ending: readonly Open[], { heardMs }: { heardMs?: number } = {}): Promise<void> {
    await sleepUntil(Math.min(...ending.map((one) => one.sentMs + one.lastsMs)) - SHORTLY_BEFORE_MS);
    await allOpen(ending, `${SHORTLY_BEFORE_MS} ms before its end`);
    await Promise.all(ending.map((one) => endsOnTime(judge, work, { ...one, ...(heardMs && { heardMs }) })));
  }

  try {
    for (const byMs of options.dice.shuffle([...STEPS_MS])) if (!isOver()) await stepWhileRunning(byMs);
    await Promise.all(leases);
    if (!isOver()) await restartUnder(options.dice.pick([3 * HOUR_MS, -3 * HOUR_MS, YEARS_73_MS]));
    if (!isOver()) await onTime(opened);
    if ((await work.task("task-1")) !== taskState) onProblem(`T3: the task that was ${taskState} is so no more`);
  } finally {
    await alive.stop();
  }
  if (!isOver()) await forwardForGood();
  if (!isOver()) await backAgain();
  await sealed();
  await ended(server, "SIGTERM");
  if (!isOver()) {
    for (const problem of await site.examine()) onProblem(problem);
    await inOrder(site, onProblem);
  }
  const { deadlines, earlyMs, lateMs, leaseLateMs } = lateness;
  return {
    ...figures,
    deadlines,
    leases: lateness.leases,
    waits: lateness.waits,
    heartbeats: alive.beats(),
    "earliest, ms": earlyMs,
    "latest, ms": lateMs,
    "latest lease, ms": leaseLateMs,
  };
}

const nameOf = ({ kind, lastsMs }: Open): string => `the deadline of ${lastsMs / SECOND_MS} s of a ${kind}`;

/** Both say all the time, but while they sleep, that they live; nobody else may be given what they hold. */
function holdOn(work: Work, holders: readonly Held[], onProblem: (says: string) => void) {
  let stopping = false;
  let beats = 0;
  let awake = Promise.resolve();
  let beatsUnderWay: Promise<unknown> = Promise.resolve();
  const beating = holders.map(async (held) => {
    while (!stopping) {
      await awake;
      const beat = work.beat(held);
      beatsUnderWay = Promise.all([beatsUnderWay, beat]);
      const status = await beat;
      if (status === 200) beats += 1;
      // Nobody is there between two starts.
      else if (status !== 0 && status !== 503) {
        return onProblem(`T3: a lease ended although its holder said that it lives (${status})`);
      }
      await pause(BEAT_EVERY_MS);
    }
  });
  return {
    beats: () => beats,
    /** The holders sleep as the machine does: one that spoke first would hide from the server that its lease ran out. */
    async sleepWhile(work: () => Promise<void>) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awake = promise;
      await beatsUnderWay;
      await work().finally(resolve);
    },
    async stop() {
      stopping = true;
      await Promise.all(beating);
    },
  };
}

/** The record goes back in time once, where a clock was accepted that had gone back. */
async function inOrder(site: Site, onProblem: (says: string) => void): Promise<void> {
  const rows = await site.query("SELECT at FROM audit WHERE seq IS NOT NULL ORDER BY seq");
  const times = rows.map(({ at }) => Number(at));
  const back = times.filter((at, i) => at < (times[i - 1] ?? 0) - SECOND_MS).length;
  if (back !== 1) onProblem(`X5: the times of the record's ${times.length} entries go back ${back} times`);
}
