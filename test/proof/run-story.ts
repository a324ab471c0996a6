import type { DatabaseName } from "../support/world.ts";
import { fingerprint } from "../support/workshop-git.ts";
import { pause, until } from "./kill-steps.ts";
import { followForEver } from "./relay-follower.ts";
import { checkGit } from "./run-check-git.ts";
import { readBoard, readRows } from "./run-check-log.ts";
import { checkStore } from "./run-check-store.ts";
import { giveAll, meddle, mend, type Scene } from "./run-givers.ts";
import { haunt } from "./run-ghosts.ts";
import { openLedger } from "./run-ledger.ts";
import { decide, review } from "./run-people.ts";
import { drawCards, type Random } from "./run-plan.ts";
import { processesByAttempt, supervisorsOf } from "./run-processes.ts";
import { openRunSite, REPOS, type RunSite } from "./run-site.ts";
import { watchOver } from "./run-watch.ts";
import { clearUp, noWeather, sendAway, stormOn, stormOnAgents, stormOnWorker, type Weather } from "./run-weather.ts";

export interface RunPlan {
  on: DatabaseName;
  /** How long it is disturbed. */
  loadMs: number;
  /** Returns numbers of the seed for one of those who take part. */
  randomOf: (name: string) => Random;
  trace: (line: string) => void;
  onProblem: (says: string) => void;
  /** True when it is to be broken off. */
  isOver: () => boolean;
}

export interface RunStory extends Weather {
  attempts: number;
  commits: number;
  submissions: number;
  reviews: number;
  decisions: number;
  remote: number;
  /** The holders that lost a job, went on writing, and were refused each time. */
  ghosts: number;
  /** Attempts that a worker was lost with. */
  lost: number;
  events: number;
  looks: number;
  /** From the end of all disturbance to everything being approved. */
  healedMs: number;
}

const CARDS = { postgres: { shop: 9, far: 4 }, sqlite: { shop: 6, far: 3 } } as const;
/** Everything is approved by then, or does not go on. */
const HEALED_WITHIN_MS = 100_000;
const GONE_WITHIN_MS = 15_000;
/** Objects, and what is Parley's own, may come; everything else stays. */
const OURS = /^(?:\.git\/)?(?:objects|(?:logs\/)?refs\/(?:aa|heads\/aa))(?:\/|$)/;

/** A board of tasks is worked through while everything that takes part is disturbed; afterwards all of it is looked at. */
export async function runStory(plan: RunPlan): Promise<RunStory> {
  const { on, randomOf, onProblem } = plan;
  await using site = await openRunSite(on);
  const said = new Set<string>();
  let phase: "load" | "heal" | "over" = "load";
  const started = performance.now();
  const scene: Scene = {
    site,
    cards: REPOS.flatMap((repo) => drawCards(repo, CARDS[on][repo], randomOf(repo))),
    ledger: openLedger(),
    isHealing: () => phase !== "load",
    isOver: () => phase === "over" || plan.isOver(),
    trace: (line) => plan.trace(`${((performance.now() - started) / 1000).toFixed(1)} s: ${line}`),
    problem(says) {
      if (said.has(says)) return;
      said.add(says);
      scene.trace(`PROBLEM ${says}`);
      onProblem(says);
    },
  };
  for (const { id, dependencies, agent, shares } of scene.cards) {
    scene.trace(`${id} (${agent}${shares ? ", shares" : ""}) depends on ${dependencies.join(", ") || "nothing"}`);
  }
  const untouched = prints(site);
  const weather = noWeather();
  const followers = site.servers.flatMap((_, i) =>
    REPOS.map((repo) => ({
      name: `board of ${repo}`,
      count: `SELECT seq FROM task_boards WHERE repo = '${repo}'`,
      ...followForEver(() => anyOf(site, i).url, `/assignment/${repo}/events`, site.keys.assign),
    })),
  );
  const [one] = scene.cards;
  if (one) {
    const path = `/assignment/${one.repo}/tasks/${one.id}/log`;
    const count = `SELECT seq FROM tasks WHERE id = '${one.id}'`;
    followers.push({
      name: `log of ${one.id}`,
      count,
      ...followForEver(() => anyOf(site, 0).url, path, site.keys.assign),
    });
  }

  const watching = watchOver(scene);
  const taking = [
    giveAll(scene, randomOf("giver")),
    mend(scene, randomOf("mender")),
    ...["ana", "ben"].map((name) => meddle(scene, randomOf(`meddler ${name}`))),
    ...["dana", "eve"].map((name) => review(scene, randomOf(`reviewer ${name}`))),
    ...["finn", "gil"].map((name) => decide(scene, randomOf(`decider ${name}`))),
  ];
  const haunting = haunt(scene, randomOf("ghosts"));
  const storms = [
    ...site.servers.map((server) => stormOn(scene, weather, server, randomOf(server.name))),
    ...site.workers.map((worker) => stormOnWorker(scene, weather, worker, randomOf(worker.name))),
    stormOnAgents(scene, weather, randomOf("agents")),
  ];
  for (const end = performance.now() + plan.loadMs; performance.now() < end && !scene.isOver();) await pause(100);
  phase = "heal";
  await Promise.all(storms);
  await clearUp(scene);
  scene.trace("nothing is disturbed any more");
  const healing = performance.now();
  await untilApproved(scene);
  const healedMs = performance.now() - healing;
  const isBrokenOff = plan.isOver();
  phase = "over";
  const [looks, ghosts] = await Promise.all([watching, haunting, ...taking]);

  if (!isBrokenOff) {
    await untilGone(scene);
    await checkFollowers(scene, followers);
  } else await Promise.all(followers.map((follower) => follower.stop()));
  await Promise.all([...site.servers, ...site.workers].map((runner) => sendAway(scene, runner)));
  const moves = readBoard(await readRows(site.site), scene.cards, scene.problem);
  const commits = isBrokenOff ? 0 : await checkGit(site, scene.cards, moves, scene.problem);
  await checkStore(site, scene.cards, scene.ledger, scene.problem);
  if (JSON.stringify(prints(site)) !== JSON.stringify(untouched))
    scene.problem("G3: a user's checkout is not as it was");
  for (const broken of await site.site.examine()) scene.problem(broken);

  const attempts = await site.site.query("SELECT repo, outcome FROM task_attempts");
  scene.trace(site.said());
  const { ledger } = scene;
  return {
    ...weather,
    attempts: attempts.length,
    ghosts,
    commits,
    submissions: ledger.submissions.length,
    looks,
    healedMs,
    reviews: ledger.reviews.filter(({ known }) => known === "acknowledged").length,
    decisions: ledger.decisions.filter(({ known }) => known === "acknowledged").length,
    lost: attempts.filter(({ outcome }) => outcome === "lost").length,
    remote: attempts.filter(({ repo }) => repo === "far").length,
    events: followers.reduce((sum, { seen }) => sum + seen.length, 0),
  };
}

function anyOf({ servers }: RunSite, first: number): { url: string } {
  const inTurn = [...servers.slice(first), ...servers.slice(0, first)];
  return inTurn.find(({ isUp }) => isUp) ?? inTurn[0] ?? { url: "" };
}

function prints({ checkout, workers }: RunSite): Record<string, string>[] {
  return [checkout, ...workers.map(({ clone }) => clone)].map((path) => fingerprint(path, (name) => OURS.test(name)));
}

/** Everything comes to its end once nothing is disturbed any more (J7). */
async function untilApproved(scene: Scene): Promise<void> {
  let left = "";
  await until(HEALED_WITHIN_MS, async () => {
    const tasks = await scene.site.site.query("SELECT id, state, error, blocked_reason FROM tasks");
    const open = tasks.filter(({ state }) => state !== "approved");
    const unknown = scene.cards.filter(({ id }) => !tasks.some((task) => task["id"] === id));
    left = [
      ...open.map(
        ({ id, state, error, blocked_reason }) => `${id} is ${state} (${error ?? blocked_reason ?? "no reason"})`,
      ),
      ...unknown.map(({ id }) => `${id} is not there`),
    ].join("; ");
    return left === "" || scene.isOver();
  });
  if (left !== "" && !scene.isOver()) scene.problem(`J7: what was given does not come to its end: ${left}`);
}

/** With the last attempt over no process of any is there, and none that looked after one (J9, J10). */
async function untilGone(scene: Scene): Promise<void> {
  const { site } = scene.site;
  let left: string[] = [];
  await until(GONE_WITHIN_MS, async () => {
    const attempts = await site.query("SELECT attempt_id, id, n, outcome, ended_at FROM task_attempts");
    const alive = processesByAttempt();
    left = attempts.flatMap(({ attempt_id, id, n, outcome, ended_at }) => {
      const pids = alive.get(String(attempt_id)) ?? [];
      const what = `attempt ${String(n)} of ${String(id)} (${String(outcome)})`;
      return [
        ...(pids.length > 0 ? [`process ${pids.join()} of ${what}`] : []),
        ...(ended_at === null ? [`${what}, which has not ended`] : []),
      ];
    });
    left.push(...supervisorsOf(scene.site.home).map((pid) => `a supervisor (${pid})`));
    return left.length === 0;
  });
  if (left.length > 0) scene.problem(`J10: everything is approved, and there is ${left.join("; ")}`);
}

async function checkFollowers(
  scene: Scene,
  followers: readonly (ReturnType<typeof followForEver> & { name: string; count: string })[],
): Promise<void> {
  for (const { name, count, seen, stop } of followers) {
    const [row] = await scene.site.site.query(count);
    const newest = Number(row?.["seq"]);
    await until(GONE_WITHIN_MS, async () => (seen.at(-1) ?? 0) >= newest);
    await stop();
    const wrong = seen.findIndex((seq, i) => seq !== i + 1);
    if (wrong >= 0) scene.problem(`S1: event ${wrong + 1} of the ${name} came to a follower as ${seen[wrong]}`);
    if (seen.length < newest) scene.problem(`S1: a follower saw ${seen.length} events of the ${name}, of ${newest}`);
  }
}
