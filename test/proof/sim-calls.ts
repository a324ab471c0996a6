import { Refusal } from "../../src/refusals.ts";
import type { SimNode } from "./sim-node.ts";
import { readyNodes, type SimWorld } from "./sim-world.ts";

/** A client's result: acknowledged, refused, or no reply, which leaves the effect of the request unknown. */
export type CallResult<T> =
  | { kind: "done"; value: T; node: SimNode }
  | { kind: "refused"; refusal: Refusal; node: SimNode }
  | { kind: "unknown" };

interface CallOptions {
  /** On this node rather than any. */
  node?: SimNode;
  /** The client hangs up after this long. */
  patienceMs?: number;
}

/** Both SDKs stop a request after this long. */
const PATIENCE_MS = 30_000;
const NOBODY_THERE_MS = 150;

/**
 * Makes one request of a node that takes some. A client whose connection is cut, or whose node dies, gets no reply,
 * and what it asked for may go on without it.
 */
export async function call<T>(
  world: SimWorld,
  what: string,
  run: (node: SimNode) => Promise<T>,
  options: CallOptions = {},
): Promise<CallResult<T>> {
  const { time, dice, weather, figures } = world;
  const ready = readyNodes(world);
  if (ready.length === 0 && !options.node) {
    await time.sleep(NOBODY_THERE_MS);
    world.trace(`${what}: nobody there`);
    return { kind: "unknown" };
  }
  const node = options.node ?? dice.pick(ready);
  figures.calls += 1;
  world.trace(`${node.name} < ${what}`);

  const ended = settled(world, what, node, run);
  world.underWay += 1;
  void Promise.race([ended, node.died]).then(() => (world.underWay -= 1));

  let hangUp = (): void => {};
  const hungUp = new Promise<void>((resolve) => (hangUp = resolve));
  const cutAfterMs = dice.chance(weather.clientCut) ? dice.int(40) : (options.patienceMs ?? PATIENCE_MS);
  const forget = time.at(time.now() + cutAfterMs, hangUp);
  const told = await Promise.race([ended, node.died.then(unknown), hungUp.then(unknown)]);
  forget();

  if (told.kind === "unknown") figures.unknown += 1;
  if (told.kind === "refused") figures.refused += 1;
  world.trace(`${node.name} > ${what}: ${summaryOf(told)}`);
  return told;
}

async function settled<T>(
  world: SimWorld,
  what: string,
  node: SimNode,
  run: (node: SimNode) => Promise<T>,
): Promise<CallResult<T>> {
  try {
    return { kind: "done", value: await run(node), node };
  } catch (error) {
    if (error instanceof Refusal) {
      // "Try again shortly" does not say whether anything happened.
      return error.kind === "unavailable" ? { kind: "unknown" } : { kind: "refused", refusal: error, node };
    }
    world.broken(
      "500",
      `${what} on ${node.name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return { kind: "unknown" };
  }
}

const unknown = (): { kind: "unknown" } => ({ kind: "unknown" });

function summaryOf(told: CallResult<unknown>): string {
  if (told.kind === "done") return JSON.stringify(told.value) ?? "done";
  return told.kind === "refused" ? `${told.refusal.code} ${JSON.stringify(told.refusal.details)}` : "nothing";
}

/** Makes a request again and again, with pauses, until it gets a reply or `giveUp`. */
export async function insist<T>(
  world: SimWorld,
  once: () => Promise<CallResult<T>>,
  giveUp: () => boolean,
): Promise<CallResult<T>> {
  // Between two tries, too, something is about to happen.
  world.underWay += 1;
  try {
    for (;;) {
      const told = await once();
      if (told.kind !== "unknown" || giveUp()) return told;
      await world.time.sleep(world.dice.between(20, 900));
    }
  } finally {
    world.underWay -= 1;
  }
}
