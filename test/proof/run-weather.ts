import { signalProcess } from "../../src/workshop/sandbox/processes.ts";
import { pause } from "./kill-steps.ts";
import { processesByAttempt, supervisorsOf } from "./run-processes.ts";
import { listPoints } from "./kill-process.ts";
import type { Scene } from "./run-givers.ts";
import { below, pick, type Random } from "./run-plan.ts";
import type { Runner, Server } from "./run-site.ts";

/** The disturbances of a story's participants. */
export interface Weather {
  stalls: number;
  kills: number;
  stops: number;
  lostLeases: number;
  agents: number;
}

const STOPPED_WITHIN_MS = 30_000;
const POINTS = /^(attempt|task|review|lease|relay|ask|addressed|decision|job)-/;

export const noWeather = (): Weather => ({ stalls: 0, kills: 0, stops: 0, lostLeases: 0, agents: 0 });

/** Servers are stopped for a while, killed, stopped, and started again; each has weather of its own. */
export async function stormOn(scene: Scene, weather: Weather, server: Server, random: Random): Promise<void> {
  const points = listPoints().filter((point) => POINTS.test(point));
  for (let turn = 0; isOn(scene); turn += 1) {
    await calm(scene, 1500 + random() * 3500);
    if (!isOn(scene)) return;
    // One of each comes first, so that no story does without.
    const roll = turn === 0 ? 1 : turn === 1 ? 0 : random();
    if (roll < 0.45) await stall(scene, weather, server, random);
    else if (roll < 0.55) {
      await sendAway(scene, server);
      weather.stops += 1;
    } else await kill(scene, weather, server);
    if (!server.isUp) {
      await pause(random() * 800);
      await comeBack(scene, server, random() < 0.4 ? { point: pick(random, points), hit: 1 + below(random, 3) } : null);
    }
  }
}

/** Workers are stopped until their work is somebody else's, killed, and started again. */
export async function stormOnWorker(scene: Scene, weather: Weather, worker: Runner, random: Random): Promise<void> {
  for (let turn = 0; isOn(scene); turn += 1) {
    await calm(scene, 1500 + random() * 3000);
    // One that has nothing to do loses nothing.
    while (isOn(scene) && !(await scene.site.hasWork(worker.holder()))) await calm(scene, 200);
    if (!isOn(scene)) return;
    if (turn === 0 || random() < 0.7) await stall(scene, weather, worker, random);
    else await kill(scene, weather, worker);
    if (!worker.isUp) {
      await pause(random() * 1500);
      if (random() < 0.3) await scene.site.loseLeases(worker.holder());
      await worker.start();
    }
  }
}

/** Agents and those who look after them are killed where they stand. */
export async function stormOnAgents(scene: Scene, weather: Weather, random: Random): Promise<void> {
  while (isOn(scene)) {
    await calm(scene, 2500 + random() * 4000);
    const agents = [...processesByAttempt().values()].flat();
    const supervisors = supervisorsOf(scene.site.home);
    const found = random() < 0.6 ? agents : supervisors;
    if (!isOn(scene) || found.length === 0) continue;
    const pid = pick(random, found);
    scene.trace(`kill process ${pid} (${found === agents ? "an agent's" : "a supervisor"})`);
    signalProcess(pid, "SIGKILL");
    weather.agents += 1;
  }
}

/** Everybody is there again, and goes on. */
export async function clearUp(scene: Scene): Promise<void> {
  for (const runner of [...scene.site.servers, ...scene.site.workers]) {
    runner.signal("SIGCONT");
    // One that is to die at a point might do so later.
    if (runner.isUp && runner.isRigged) {
      runner.signal("SIGKILL");
      await runner.gone();
    }
    if (!runner.isUp) await comeBack(scene, runner, null);
  }
}

const isOn = (scene: Scene): boolean => !scene.isOver() && !scene.isHealing();

async function calm(scene: Scene, ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until && isOn(scene);) await pause(50);
}

/** While it is stopped, its leases may run out, in whichever time. */
async function stall(scene: Scene, weather: Weather, runner: Runner, random: Random): Promise<void> {
  if (!runner.isUp) return;
  const losesLease = random() < 0.7;
  const isWorker = !("url" in runner);
  scene.trace(`stop ${runner.name}${losesLease ? " until its leases are lost" : ""}`);
  if (losesLease) {
    // Before it stops, which may be within a transaction that holds these rows.
    await scene.site.loseLeases(runner.holder());
    weather.lostLeases += 1;
  }
  runner.signal("SIGSTOP");
  weather.stalls += 1;
  // By then another worker has taken it, and may have begun anew.
  await calm(scene, (isWorker && losesLease ? 2500 : 500) + random() * 3500);
  runner.signal("SIGCONT");
  scene.trace(`continue ${runner.name}`);
}

async function kill(scene: Scene, weather: Weather, runner: Runner): Promise<void> {
  scene.trace(`kill ${runner.name}`);
  runner.signal("SIGKILL");
  await runner.gone();
  weather.kills += 1;
}

/** Tells somebody to go, who leaves agents at work where they are. */
export async function sendAway(scene: Scene, runner: Runner): Promise<void> {
  scene.trace(`send ${runner.name} away`);
  runner.signal("SIGTERM");
  const isGone = await Promise.race([runner.gone().then(() => true), pause(STOPPED_WITHIN_MS)]);
  if (isGone === true) return;
  scene.problem(`R4: ${runner.name} was told to go, and was there ${STOPPED_WITHIN_MS} ms later`);
  runner.signal("SIGKILL");
  await runner.gone();
}

async function comeBack(scene: Scene, runner: Runner, at: { point: string; hit: number } | null): Promise<void> {
  scene.trace(`start ${runner.name}${at ? `, to die at ${at.point}, time ${at.hit}` : ""}`);
  await runner.start(at ?? undefined);
  if (!runner.isUp) await runner.start();
}
