import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call } from "../support/world.ts";
import { openToExamine } from "../../src/core/store/open-store.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { serve } from "./freeze-pair.ts";
import { firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { stopNode, urlOf } from "./node-process.ts";
import { type Cluster, openCluster } from "./promote-cluster.ts";
import { openPromoteLoad, type PromoteLoad } from "./promote-load.ts";
import { type Dice, diceOf } from "./sim-dice.ts";

const PROMOTIONS = 3;
const LONG_PROMOTIONS_PER_HOUR = 1250;
/** How long the load runs between two promotions, at most. */
const BETWEEN_MS = 600;
/** A standby that is cut off keeps commits waiting for so long. */
const CUT_MS = 2500;
const MOST_TOLD = 20;

const LIMITS = ["QUESTIONS_PER_HOUR", "OPEN_QUESTIONS", "AGENT_READS_PER_HOUR", "ANSWERS_PER_HOUR"];

/**
 * Two servers on a primary with a synchronous standby. The primary is killed under load, and the standby is promoted by
 * PostgreSQL's own programs, again and again: nothing acknowledged is lost, every waiter is told once, and the store's
 * time never goes back.
 *
 * The last promotion is a control, of a standby that is asynchronous and cut off: what was acknowledged is lost, and the
 * same look must notice it.
 */
export const promote: Harness = {
  name: "promote",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = firstSeedOf(options);
    const problems: string[] = [];
    const figures = await story(seed, options, (says) => void problems.push(says));
    const repeat = `npm run prove -- promote --seed ${seed}`;
    return { figures, failures: [...new Set(problems)].slice(0, MOST_TOLD).map((says) => ({ says, repeat })) };
  },
};

interface Scene {
  cluster: Cluster;
  load: PromoteLoad;
  dice: Dice;
  onProblem: (says: string) => void;
}

async function story(
  seed: number,
  { longHours, boxMs, trace, stopAtFirstFailure }: HarnessOptions,
  tell: (says: string) => void,
): Promise<HarnessReport["figures"]> {
  let problems = 0;
  const onProblem = (says: string): void => {
    problems += 1;
    if (trace) console.error(`promote ${seed}: ${says}`);
    tell(says);
  };
  const began = performance.now();
  const wanted = longHours ? Math.ceil(longHours * LONG_PROMOTIONS_PER_HOUR) : PROMOTIONS;
  const isOver = () =>
    (stopAtFirstFailure && problems > 0) || (boxMs !== undefined && performance.now() - began > boxMs);
  await using cluster = await openCluster();
  await using servers = await startServers(cluster.url);
  const load = openPromoteLoad(servers.urls, onProblem);
  const scene: Scene = { cluster, load, dice: diceOf(seed), onProblem };
  const withoutMs: number[] = [];
  let waited = 0;
  for (let i = 0; i < wanted && (i === 0 || !isOver()); i += 1) {
    const one = await promoteOnce(scene, i);
    withoutMs.push(one.withoutMs);
    waited += one.waiting;
    if (trace) console.error(`promote ${seed}: ${i + 1}: ${Math.round(one.withoutMs)} ms without writes (${one.how})`);
  }
  await load.stop();
  await checkStore(scene, servers.place);
  const lost = await loseOne(scene, servers.urls[0] ?? "");
  const sorted = withoutMs.map(Math.round).sort((one, other) => one - other);
  return {
    promotions: sorted.length,
    "acknowledged writes": 2 * load.asked().length,
    waits: load.asked().length,
    "waits that stood": waited,
    "503": load.refused(),
    "without writes, median ms": sorted[Math.floor(sorted.length / 2)] ?? 0,
    "longest ms": sorted.at(-1) ?? 0,
    "lost by the control": lost,
  };
}

/** Kills the primary under load and promotes the standby. */
async function promoteOnce(
  { cluster, load, dice, onProblem }: Scene,
  number: number,
): Promise<{ withoutMs: number; waiting: number; how: string }> {
  const isCut = number % 3 === 2;
  const how = number % 2 === 0 ? "SIGKILL" : "immediate";
  await load.parked();
  await systemClock.sleep(dice.between(0, BETWEEN_MS));
  if (isCut) {
    await cluster.cutStandby();
    await systemClock.sleep(dice.between(0, CUT_MS));
  }
  const waiting = load.asked().filter(({ isTold }) => !isTold).length;
  const before = await nowOf(cluster);
  const from = performance.now();
  await cluster.killPrimary(how);
  await cluster.promote();
  const after = await nowOf(cluster);
  if (after < before) onProblem(`T3: parley_now() went back by ${before - after} ms`);
  const withoutMs = (await load.served(from)) - from;
  await checkWrites({ cluster, load, onProblem });
  await cluster.rebuildStandby();
  return { withoutMs, waiting, how: isCut ? `${how}, standby cut off before` : how };
}

async function nowOf(cluster: Cluster): Promise<number> {
  const [row] = await cluster.query("SELECT parley_now()::float8 AS now");
  return Number(row?.["now"]);
}

/** Every acknowledged write is on the new primary. */
async function checkWrites({ cluster, load, onProblem }: Omit<Scene, "dice">): Promise<void> {
  // Those of this moment: what is acknowledged meanwhile is looked at next time.
  const asked = [...load.asked()].map(({ id, isAnswerAcknowledged }) => ({ id, isAnswerAcknowledged }));
  const rows = await cluster.query("SELECT ask_id, n FROM questions");
  const answers = new Map(rows.map(({ ask_id, n }) => [String(ask_id), Number(n)]));
  for (const { id, isAnswerAcknowledged } of asked) {
    const count = answers.get(id);
    if (count === undefined) onProblem(`D1: ${id} was acknowledged and is lost`);
    else if (isAnswerAcknowledged && count !== 1) onProblem(`D1: the answer to ${id} was acknowledged and is lost`);
  }
}

/** Every write is there, every wait was told once, and the doctor finds nothing. */
async function checkStore(scene: Scene, place: Servers["place"]): Promise<void> {
  await checkWrites(scene);
  for (const { id, results, isTold } of scene.load.asked()) {
    if (results !== 1 || !isTold) scene.onProblem(`R1: the wait for ${id} was told ${results} times`);
  }
  const db = await openToExamine(place, systemClock);
  try {
    for (const { check, promise, offenders } of await examineStore({ db }, { quick: false })) {
      if (offenders.length > 0) scene.onProblem(`${check}: not so that ${promise}: ${offenders.join(", ")}`);
    }
  } finally {
    await db.close();
  }
}

/** Returns how many acknowledged writes are lost when commits do not wait for a standby, which is cut off. */
async function loseOne({ cluster, onProblem }: Scene, url: string): Promise<number> {
  await cluster.setSynchronous(false);
  await cluster.cutStandby();
  const body = { prompt: "Who has this?", type: "text", min_responses: 1 };
  const reply = await call(`${url}/agent/questions`, "POST", { body });
  if (reply.status !== 201) onProblem(`the control's write was answered ${reply.status} ${reply.text}`);
  await cluster.killPrimary("SIGKILL");
  await cluster.promote();
  const rows = await cluster.query(`SELECT FROM questions WHERE ask_id = '${reply.body.question_id}'`);
  if (rows.length > 0) onProblem("an asynchronous standby that was cut off lost nothing: this harness notices nothing");
  return 1 - rows.length;
}

interface Servers extends AsyncDisposable {
  urls: readonly string[];
  place: { dataDir: string; keyFile: string; databaseUrl: string };
}

async function startServers(databaseUrl: string): Promise<Servers> {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-promote-"));
  const started: ChildProcess[] = [];
  const urls: string[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(started.map(stopNode));
    rmSync(dataDir, { recursive: true, force: true });
  };
  const env = {
    ...Object.fromEntries(LIMITS.map((name) => [`PARLEY_ASK_A_HUMAN_LIMITS_${name}`, "1000000000"])),
    PARLEY_LIMITS_LONG_POLLS: "1000",
  };
  try {
    for (const which of ["first", "second"]) {
      const child = serve(databaseUrl, dataDir, which, env);
      started.push(child);
      urls.push(await urlOf(child));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const place = { dataDir, keyFile: join(dataDir, "installation.key"), databaseUrl };
  return { urls, place, [Symbol.asyncDispose]: close };
}
