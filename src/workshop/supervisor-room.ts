import { join } from "node:path";
import type { AgentOrder } from "./agents/agent.ts";
import { JAIL } from "./bwrap.ts";
import type { DoorsOut } from "./doors-out.ts";
import { ATTEMPT_VARIABLE } from "./processes.ts";
import { findProgram, SYSTEM_PATH } from "./program-needs.ts";
import { pathInside, type Room } from "./room.ts";
import type { SupervisorOrder } from "./supervision.ts";

/** Returns the room of an order's agent. @throws {Error} where it was to be a jail, and there is none to be had */
export function roomOf(order: SupervisorOrder, folder: string, { bridges }: DoorsOut): Room {
  const path = order.env["PATH"] ?? process.env["PATH"] ?? SYSTEM_PATH;
  const bwrap = order.sandbox === "bubblewrap" ? findProgram("bwrap", `${path}:${SYSTEM_PATH}`) : null;
  // What was to run in a jail never runs without one.
  if (order.sandbox === "bubblewrap" && bwrap === null) throw new Error("bubblewrap is not on this machine any more");
  return {
    attemptId: order.attemptId,
    bwrap,
    store: order.store,
    folder,
    path,
    bridges,
    tree: join(order.folder, "tree"),
    home: join(order.folder, "home"),
    hidden: [order.folder, order.store],
  };
}

/** Returns what an agent is started with, in the words of the room it stands in. */
export function agentOrderOf(
  order: SupervisorOrder,
  room: Room,
  { mcp, env }: Pick<AgentOrder, "mcp" | "env">,
): AgentOrder {
  const jailed = room.bwrap !== null;
  const home = jailed ? JAIL.home : room.home;
  return {
    settings: order.agent,
    message: order.message,
    resume: order.resume,
    sessionId: order.sessionId,
    jailed,
    tree: jailed ? JAIL.tree : room.tree,
    treeOutside: room.tree,
    home,
    homeOutside: room.home,
    mcp,
    env: {
      ...order.env,
      PATH: pathInside(room),
      HOME: home,
      LANG: order.env["LANG"] ?? "C.UTF-8",
      TERM: "dumb",
      [ATTEMPT_VARIABLE]: order.attemptId,
      PARLEY_TASK: order.taskId,
      PARLEY_URL: order.serverUrl,
      TASK_RELAY_JOB_ID: order.jobId,
      TASK_RELAY_STEP_ID: order.stepId,
      ...env,
    },
    maxTurns: order.limits.turns,
    maxBudgetUsd: order.limits.maxBudgetUsd,
  };
}
