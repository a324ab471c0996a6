import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../lib/clock.ts";
import { systemFetch } from "../lib/fetch.ts";
import { systemRandom } from "../lib/random.ts";
import { agentOf } from "./agents/agents.ts";
import type { SupervisorOrder } from "./supervision.ts";
import { supervise } from "./supervisor.ts";

/** The process that owns one agent: `node supervisor-main.ts <folder>`. It ends when the agent has, and nothing before. */
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

const folder = process.argv[2] ?? "";
const order = JSON.parse(await readFile(join(folder, "order.json"), "utf8")) as SupervisorOrder;
// It holds keys, and nobody else reads it.
await rm(join(folder, "order.json"));
await supervise(order, {
  agent: agentOf(order.agent.type),
  clock: systemClock,
  random: systemRandom,
  fetch: systemFetch,
  temporary: tmpdir(),
});
process.exit(0);
