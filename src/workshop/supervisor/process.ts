import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../lib/clock.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { systemRandom } from "../../lib/random.ts";
import type { Agent, AgentType } from "../agents/agent.ts";
import type { SupervisorOrder } from "./lines.ts";
import { claimFolder } from "./claim.ts";
import { supervise } from "./supervisor.ts";

/**
 * Makes this process the supervisor of the attempt whose order is in `folder`. It ends when the agent has ended, and
 * ignores signals: a signal that stops a server or a terminal must not stop its agents.
 */
export async function runAsSupervisor(folder: string, agentOf: (type: AgentType) => Agent): Promise<void> {
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  if (!claimFolder(folder)) throw new Error("another supervisor owns this attempt");
  const file = join(folder, "order.json");
  const order = JSON.parse(await readFile(file, "utf8")) as SupervisorOrder;
  // It holds keys, and nobody else reads it.
  await rm(file);
  await supervise(order, {
    agent: agentOf(order.agent.type),
    clock: systemClock,
    random: systemRandom,
    fetch: systemFetch,
  });
  process.exit(0);
}
