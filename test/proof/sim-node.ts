import { standStill } from "../../src/backup/store/owned-tables.ts";
import { DEFAULT_ADDRESSED_RULES } from "../../src/requests/model/rules.ts";
import { loadConfig } from "../../src/config/config.ts";
import { DEFAULT_RELAY_RULES } from "../../src/asks/model/rules.ts";
import { pino } from "pino";
import type { Context } from "../../src/context.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { openContainedFiles } from "../../src/lib/files/contained-files.ts";
import { openForeignSchemas } from "../../src/lib/json/foreign-schema.ts";
import { openSecretScan } from "../../src/lib/secrets/secret-scan.ts";
import { idMaker } from "../../src/lib/id.ts";
import type { Keyring } from "../../src/lib/secrets/keyring.ts";
import { type Loop, startLoop } from "../../src/lib/loop.ts";
import { expireDueQuestions } from "../../src/questions/loops/expire.ts";
import { openRecheck } from "../../src/server/loops/recheck.ts";
import { sweep } from "../../src/server/loops/sweep.ts";
import { Refusal } from "../../src/refusals.ts";
import { openRequesters } from "../../src/server/requesters.ts";
import { openAskerBounds } from "../../src/requests/model/asker-bounds.ts";
import { openWaitList } from "../../src/requests/model/open-waits.ts";
import { openReaders } from "../../src/core/store/readers.ts";
import { openWake, type WakeCarrier } from "../../src/core/store/wake.ts";
import { type FeedChanges, followFeed } from "../../src/questions/follow-feed.ts";
import { openReadLimits, type ReadLimits } from "../../src/core/read-limits.ts";
import { NOON } from "../support/held-clock.ts";
import { disturb, type SimWorld } from "./sim-world.ts";

/** The state of a machine that outlives a crash of its node. */
export interface Machine {
  slot: number;
  boots: number;
  /** By how much its wall clock is wrong. */
  clockOffMs: number;
  /** Until when the store cannot be reached from here, or only slowly. */
  awayUntil: number;
  slowUntil: number;
  slowLegMs: number;
  disturbedUntil: number;
}

/** One life of one node: a context, its loops, its memory. */
export interface SimNode {
  machine: Machine;
  name: string;
  ctx: Context;
  readLimits: ReadLimits;
  feed: FeedChanges;
  alive: boolean;
  /** It has settled what was due, and takes requests. */
  ready: boolean;
  /** Its loops go round and do nothing. */
  loopsDead: boolean;
  pausedUntil: number;
  /** Resolves when it is dead. */
  died: Promise<void>;
  /** Ends it at once: nothing it has under way goes on. */
  crash(): void;
  /** Ends it as SIGTERM does: waiters are answered first. */
  stop(): Promise<void>;
}

// The intervals of src/server/loops.ts. Retention runs more often, because a story is short.
const EXPIRE_EVERY_MS = 250;
const MERGE_EVERY_MS = 1000;
const RECHECK_EVERY_MS = 1000;
const SWEEP_EVERY_MS = 7000;
const BOOT_AGAIN_MS = 400;
/** After something went wrong, a loop may have slept through its next turn. */
const ECHO_MS = 1300;

export function newMachine(slot: number): Machine {
  return { slot, boots: 0, clockOffMs: 0, awayUntil: -1, slowUntil: -1, slowLegMs: 0, disturbedUntil: -1 };
}

/** Starts a node; it becomes ready once it has settled what came due while it was away. */
export function bootNode(world: SimWorld, machine: Machine, keyring: Keyring): SimNode {
  const { time, dice } = world;
  machine.boots += 1;
  const stopping = new AbortController();
  let tellDeath = (): void => {};
  const died = new Promise<void>((resolve) => (tellDeath = resolve));
  const clock = clockOf(world, () => node);
  const db = world.store.connect({
    legMs: () => (time.now() < machine.slowUntil ? machine.slowLegMs : world.weather.legMs),
    isAway: () => time.now() < machine.awayUntil,
    odds: () => world.weather,
    proceed: () => proceed(world, node),
    isDead: () => !node.alive,
    onSlow(ms) {
      world.countsReads = false;
      for (const one of world.nodes) disturb(world, one, ms + ECHO_MS);
    },
    onHurt: (what) => {
      world.figures.faults += 1;
      world.countsReads = false;
      world.trace(`${node.name} ${what}`);
      disturb(world, node, ECHO_MS);
    },
    onCommit: (topics) => {
      world.figures.commits += 1;
      world.ledger.committed(node, topics);
    },
  });
  const owned = {
    newId: idMaker(dice.bytes, () => clock.now()),
    addressed: DEFAULT_ADDRESSED_RULES,
    conversations: { entryPoints: [] },
    assignment: loadConfig({ env: { HOME: "/nowhere" } }).assignment,
    schemas: openForeignSchemas(),
    secrets: openSecretScan({ canaries: [] }),
  };
  const ctx: Context = {
    ...owned,
    requesters: openRequesters(owned),
    db,
    clock,
    keyring,
    random: dice.bytes,
    fetch: () => Promise.reject(new Error("there is no network in a simulation")),
    log: pino({ level: "silent" }),
    wake: openWake(carrierOf(world, () => node)),
    readers: openReaders(clock),
    askerBounds: openAskerBounds(),
    openWaits: openWaitList(),
    standStill,
    crowd: world.rules,
    relay: DEFAULT_RELAY_RULES,
    offer: () => undefined,
    tell: () => undefined,
    artifacts: openContainedFiles("/nowhere"),
    stopping: stopping.signal,
  };
  let loops: Loop[] = [];

  const node: SimNode = {
    machine,
    name: `n${machine.slot}.${machine.boots}`,
    ctx,
    readLimits: openReadLimits(ctx),
    feed: followFeed(ctx),
    alive: true,
    ready: false,
    loopsDead: false,
    pausedUntil: -1,
    died,
    crash() {
      world.trace(`${node.name} is dead`);
      disturb(world, node, ECHO_MS);
      node.alive = node.ready = false;
      tellDeath();
    },
    async stop() {
      world.trace(`${node.name} stops`);
      disturb(world, node, ECHO_MS);
      node.ready = false;
      stopping.abort();
      await Promise.race([died, Promise.all(loops.map((loop) => loop.stop()))]);
      await Promise.race([died, node.readLimits.merge().catch(() => undefined)]);
      if (node.alive) node.crash();
    },
  };

  async function boot(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        while (await expireDueQuestions(ctx, stopping.signal));
        break;
      } catch (error) {
        if (!(error instanceof Refusal)) world.broken("I8", `a start failed: ${String(error)}`);
        await clock.sleep(BOOT_AGAIN_MS);
      }
    }
    if (stopping.signal.aborted) return;
    loops = startLoops(world, node);
    node.ready = true;
    world.trace(`${node.name} is ready`);
  }
  void boot();
  return node;
}

function startLoops(world: SimWorld, node: SimNode): Loop[] {
  const { ctx } = node;
  const loop = (name: string, idleMs: number, step: (signal: AbortSignal) => Promise<boolean>): Loop =>
    startLoop(async (signal) => (node.loopsDead ? false : step(signal)), {
      clock: ctx.clock,
      idleMs,
      onError: (error) => {
        if (error instanceof Refusal && error.kind === "unavailable") return;
        world.broken("I8", `a step of ${name} failed: ${error instanceof Error ? error.stack : String(error)}`);
      },
    });
  return [
    loop("expire", EXPIRE_EVERY_MS, (signal) => expireDueQuestions(ctx, signal)),
    loop("merge", MERGE_EVERY_MS, () => node.readLimits.merge()),
    loop("recheck", RECHECK_EVERY_MS, openRecheck(ctx)),
    loop("sweep", SWEEP_EVERY_MS, () => sweep(ctx)),
  ];
}

/** Resolves when the node goes on: later while it is paused, never once it is dead. */
function proceed(world: SimWorld, node: SimNode): Promise<void> | undefined {
  if (!node.alive) return new Promise(() => {});
  if (node.pausedUntil <= world.time.now()) return undefined;
  return world.time.sleep(node.pausedUntil - world.time.now()).then(() => proceed(world, node));
}

function clockOf(world: SimWorld, nodeOf: () => SimNode): Clock {
  const { time } = world;
  return {
    now: () => NOON + time.now() + nodeOf().machine.clockOffMs,
    monotonic: () => time.now(),
    uptime: () => time.now(),
    boot: null,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        let forget = (): void => {};
        const wake = () => {
          forget();
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const due = () => {
          const node = nodeOf();
          if (!node.alive) return;
          if (node.pausedUntil > time.now()) forget = time.at(node.pausedUntil, due);
          else wake();
        };
        forget = time.at(time.now() + Math.max(0, Math.ceil(ms)), due);
        signal?.addEventListener("abort", wake, { once: true });
      });
    },
  };
}

/** Carries wake-ups to the other nodes: late, twice, in another order, or not at all. */
function carrierOf(world: SimWorld, nodeOf: () => SimNode): WakeCarrier {
  const { time, dice, weather } = world;
  function deliver(slot: number, topic: string): void {
    const peer = world.nodes[slot];
    if (!peer?.alive) return;
    if (peer.pausedUntil > time.now()) time.at(peer.pausedUntil, () => deliver(slot, topic));
    else peer.ctx.wake.wakeHere(topic);
  }
  return {
    send(topics) {
      const node = nodeOf();
      if (!node.alive) return;
      world.ledger.published(node, topics);
      for (const { machine } of world.nodes) {
        if (machine === node.machine) continue;
        for (const topic of topics) {
          if (dice.chance(weather.wakeLost)) continue;
          const copies = dice.chance(weather.wakeTwice) ? 2 : 1;
          for (let i = 0; i < copies; i += 1) {
            const ms = dice.int(weather.wakeLegMs + 1);
            if (ms === 0) deliver(machine.slot, topic);
            else time.at(time.now() + ms, () => deliver(machine.slot, topic));
          }
        }
      }
    },
    close: () => Promise.resolve(),
  };
}
