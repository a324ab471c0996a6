import type { CrowdRules } from "../../src/questions/model/rules.ts";
import { DEFAULT_CROWD_RULES } from "../../src/questions/model/rules.ts";
import type { Dice } from "./sim-dice.ts";
import type { SimNode } from "./sim-node.ts";
import { disturb, guarded, type SimWorld, type Weather } from "./sim-world.ts";

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The after-effect of a slow or absent part: a loop that met it sleeps before it looks again. */
const ECHO_MS = 1500;

export const FINE: Weather = {
  legMs: 0,
  clientCut: 0,
  wakeLost: 0,
  wakeTwice: 0,
  wakeLegMs: 1,
  callLost: 0,
  replyLost: 0,
  statementFails: 0,
  runAgain: 0,
  slow: 0,
};

/** Returns the rules of a story: the contract's, or limits so tiny that everybody meets them. */
export function rulesOf(dice: Dice): CrowdRules {
  const rules = structuredClone(DEFAULT_CROWD_RULES);
  rules.points.bonuses = dice.chance(0.5);
  if (dice.chance(0.3)) rules.points.dailyCap = dice.between(5, 25);
  if (dice.chance(0.25)) rules.limits.agentReadsPerHour = dice.between(2, 12);
  // Somebody who shows nothing is a newcomer at each answer.
  rules.limits.newParticipantsPerHour = 1_000;
  if (!dice.chance(0.35)) return rules;
  rules.limits.questionsPerHour = dice.between(2, 5);
  rules.limits.openQuestions = dice.between(1, 3);
  rules.limits.answersPerHour = dice.between(2, 6);
  rules.limits.answersPerNetworkPerHour = dice.between(4, 20);
  rules.limits.newParticipantsPerHour = dice.between(2, 10);
  return rules;
}

type Fault = (world: SimWorld, boot: (slot: number) => void) => Promise<void>;

/** The one fault that must change nothing at all. */
const NODE_CLOCK = "node clock steps";

/** One fault each; a story has a few of them, each any number of times. */
const FAULTS: Record<string, Fault> = {
  async crash(world, boot) {
    const node = someNode(world);
    if (!node.alive) return;
    node.crash();
    await world.time.sleep(world.dice.between(0, 2500));
    boot(node.machine.slot);
  },
  async "stop and start"(world, boot) {
    const node = someNode(world);
    if (!node.alive || !node.ready) return;
    await node.stop();
    await world.time.sleep(world.dice.between(0, 500));
    boot(node.machine.slot);
  },
  async "all crash"(world, boot) {
    const dead = world.nodes.filter(({ alive }) => alive);
    for (const node of dead) node.crash();
    await world.time.sleep(world.dice.between(100, 3000));
    for (const node of dead) boot(node.machine.slot);
  },
  async pause(world) {
    const node = someNode(world);
    const ms = world.dice.between(50, 4000);
    node.pausedUntil = Math.max(node.pausedUntil, world.time.now() + ms);
    disturb(world, node, ms + ECHO_MS);
  },
  async "store away"(world) {
    const ms = world.dice.between(50, 3000);
    const all = world.dice.chance(0.5);
    for (const node of all ? world.nodes : [someNode(world)]) {
      node.machine.awayUntil = world.time.now() + ms;
      disturb(world, node, ms + ECHO_MS);
    }
  },
  async "store slow"(world) {
    const ms = world.dice.between(200, 4000);
    const legMs = world.dice.between(20, 700);
    for (const node of world.dice.chance(0.5) ? world.nodes : [someNode(world)]) {
      Object.assign(node.machine, { slowUntil: world.time.now() + ms, slowLegMs: legMs });
      disturb(world, node, ms + 6 * legMs + ECHO_MS);
    }
  },
  async [NODE_CLOCK](world) {
    const { machine } = someNode(world);
    machine.clockOffMs += someStep(world.dice);
  },
  async "store clock steps"(world) {
    const { dice, store, time } = world;
    if (dice.chance(0.5)) return store.oversleep(Math.abs(someStep(dice)));
    store.step(someStep(dice));
    if (dice.chance(0.5)) return;
    await time.sleep(dice.between(100, 3000));
    store.setRight();
  },
  async "loops die"(world) {
    const nodes = world.dice.chance(0.5) ? world.nodes : [someNode(world)];
    for (const node of nodes) node.loopsDead = true;
    const ms = world.dice.between(500, 5000);
    for (const node of nodes) disturb(world, node, ms + ECHO_MS);
    await world.time.sleep(ms);
    for (const node of nodes) node.loopsDead = false;
  },
};

/** Foul weather that lasts: what it changes, and how. */
const SPELLS: Record<string, (weather: Weather, dice: Dice) => void> = {
  "calls lost": (weather, dice) => (weather.callLost = dice.between(1, 8) / 100),
  "replies lost": (weather, dice) => (weather.replyLost = dice.between(1, 8) / 100),
  "statements fail": (weather, dice) => (weather.statementFails = dice.between(1, 8) / 100),
  "run again": (weather, dice) => (weather.runAgain = dice.between(1, 20) / 100),
  "slow statements": (weather, dice) => (weather.slow = dice.between(2, 20) / 100),
  "clients cut": (weather, dice) => (weather.clientCut = dice.between(1, 15) / 100),
  "wake-ups lost": (weather, dice) => (weather.wakeLost = dice.pick([0.1, 0.5, 1])),
  "wake-ups twice and late": (weather, dice) =>
    Object.assign(weather, { wakeTwice: 0.3, wakeLegMs: dice.between(5, 1500) }),
};

/** One trouble alone shows most sharply what it does; several together show what they do to each other. */
function chooseTroubles(dice: Dice): { spells: string[]; faults: string[] } {
  const [spells, faults] = [Object.keys(SPELLS), Object.keys(FAULTS)];
  if (dice.chance(0.3)) {
    const only = dice.pick([...spells, ...faults]);
    return { spells: spells.filter((name) => name === only), faults: faults.filter((name) => name === only) };
  }
  return { spells: spells.filter(() => dice.chance(0.25)), faults: faults.filter(() => dice.chance(0.22)) };
}

/** Chooses a story's weather and lets it come and go until `untilMs`; then it is fine for good. */
export async function makeWeather(world: SimWorld, untilMs: number, boot: (slot: number) => void): Promise<void> {
  const { time, dice, weather } = world;
  const { spells, faults } = chooseTroubles(dice);
  world.trace(`weather: ${[...spells, ...faults].join(", ") || "fine"}`);

  await time.sleep(dice.between(0, 2000));
  for (const name of spells) SPELLS[name]?.(weather, dice);
  const running: Promise<void>[] = [];
  for (;;) {
    const pauseMs = dice.between(100, 3000);
    if (time.now() + pauseMs >= untilMs) break;
    await time.sleep(pauseMs);
    if (faults.length === 0) continue;
    const name = dice.pick(faults);
    world.trace(name);
    world.figures.faults += 1;
    if (name !== NODE_CLOCK) world.countsReads = false;
    running.push(guarded(world, (FAULTS[name] as Fault)(world, boot)));
  }
  await Promise.all(running);
  await time.sleep(Math.max(0, untilMs - time.now()));
  Object.assign(weather, { ...FINE, legMs: weather.legMs });
  world.trace("fine weather");
}

function someNode(world: SimWorld): SimNode {
  return world.dice.pick(world.nodes);
}

function someStep(dice: Dice): number {
  const sizes = [
    dice.between(1, 5),
    dice.between(100, SECOND_MS),
    5 * SECOND_MS,
    HOUR_MS,
    dice.int(DAY_MS),
    DAY_MS,
    DAY_MS + SECOND_MS,
  ];
  const ms = dice.chance(0.04) ? 8 * DAY_MS : dice.pick(sizes);
  return dice.chance(0.5) ? ms : -ms;
}
