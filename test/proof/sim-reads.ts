import { Refusal } from "../../src/refusals.ts";
import type { SimNode } from "./sim-node.ts";
import type { SimWorld } from "./sim-world.ts";

/** One read that a node let through. */
export interface Read {
  at: number;
  node: SimNode;
}

/** Within this a node has merged what it counted, and learnt what others had by then. */
const MERGED_WITHIN_MS = 1300;

/**
 * Counts one read of an agent on a node, as its door does. Nodes together overshoot by at most a second's traffic, and
 * nobody is refused before the limit, whatever a node's wall clock says (T5).
 */
export async function chargeRead(world: SimWorld, node: SimNode, asker: string): Promise<void> {
  const { ledger, rules, time } = world;
  const limit = rules.limits.agentReadsPerHour;
  let reads = ledger.reads.get(asker);
  if (!reads) ledger.reads.set(asker, (reads = []));
  try {
    await node.readLimits.charge("agent reads", asker, limit);
  } catch (error) {
    const isEarly =
      error instanceof Refusal && error.code === "rate_limited" && world.countsReads && reads.length < limit;
    if (isEarly) world.broken("T5", `${node.name} refused ${asker} a read after ${reads.length} of ${limit}`);
    throw error;
  }
  const now = time.now();
  const learntAt = reads.findLast((read) => read.node === node && read.at <= now - MERGED_WITHIN_MS)?.at ?? 0;
  const known = reads.filter((read) => read.node === node || read.at <= learntAt - MERGED_WITHIN_MS).length;
  if (known >= limit && world.countsReads)
    world.broken("T5", `${node.name} let ${asker} read after ${known} of ${limit}`);
  reads.push({ at: now, node });
}
