import type { CrowdRules } from "../../src/questions/model/rules.ts";
import type { Dice } from "./sim-dice.ts";
import type { Ledger } from "./sim-ledger.ts";
import type { SimNode } from "./sim-node.ts";
import type { Person } from "./sim-people.ts";
import type { SimStore, StoreOdds } from "./sim-store.ts";
import type { SimTime } from "./sim-time.ts";

/** The odds of each failure at any moment; `sim-weather.ts` changes them. */
export interface Weather extends StoreOdds {
  /** Longest time from a node to the store, each way, on a fine day. */
  legMs: number;
  /** A client's connection is cut while its request is under way. */
  clientCut: number;
  /** The odds of lost and doubled wake-ups between nodes, and their delay. */
  wakeLost: number;
  wakeTwice: number;
  wakeLegMs: number;
}

/** Counts for the record. */
export interface Figures {
  calls: number;
  created: number;
  answered: number;
  refused: number;
  unknown: number;
  commits: number;
  faults: number;
  streamed: number;
  latestExpiryMs: number;
  latestWakeMs: number;
}

/** Everything one simulation is made of. */
export interface SimWorld {
  seed: number;
  time: SimTime;
  dice: Dice;
  store: SimStore;
  weather: Weather;
  rules: CrowdRules;
  /** The machine of each slot, with whatever runs on it now. */
  nodes: SimNode[];
  people: Person[];
  ledger: Ledger;
  figures: Figures;
  /** Requests that some node is still working on, whether or not anybody waits for them, and those to be made again. */
  underWay: number;
  /** Nothing has befallen the counting of reads yet. */
  countsReads: boolean;
  phase: "story" | "healed" | "rest";
  /** Notes one step; equal seeds note equal steps. */
  trace(line: string): void;
  /** Notes a promise that did not hold. */
  broken(check: string, says: string): void;
}

/** Nobody begins anything new once the weather is fine for good. */
export function isOver(world: SimWorld): boolean {
  return world.phase !== "story";
}

/** The nodes that take requests now. */
export function readyNodes(world: SimWorld): SimNode[] {
  return world.nodes.filter((node) => node.alive && node.ready);
}

/** True when nothing befell the node's machine since `since`. */
export function undisturbed(node: SimNode, since: number): boolean {
  return node.machine.disturbedUntil < since;
}

/** Notes that things on this machine may be late until `ms` from now. */
export function disturb(world: SimWorld, node: SimNode, ms: number): void {
  const { machine } = node;
  machine.disturbedUntil = Math.max(machine.disturbedUntil, world.time.now() + ms);
}

/** Turns whatever a part of the story throws into a broken promise. */
export function guarded(world: SimWorld, part: Promise<void>): Promise<void> {
  return part.catch((error: unknown) => {
    world.broken("500", error instanceof Error ? (error.stack ?? error.message) : String(error));
  });
}
