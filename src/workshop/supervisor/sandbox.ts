import { join } from "node:path";
import type { AgentOrder } from "../agents/agent.ts";
import { JAIL } from "../sandbox/bwrap.ts";
import type { DoorsOut } from "../sandbox/doors-out.ts";
import { ATTEMPT_VARIABLE } from "../sandbox/processes.ts";
import { findProgram, SYSTEM_PATH } from "../sandbox/program-needs.ts";
import { pathInside, type Sandbox } from "../sandbox/run.ts";
import type { SupervisorOrder } from "./lines.ts";

/** Returns the sandbox of an order's agent. @throws {Error} if the order needs a jail and bubblewrap is missing */
export function sandboxOf(order: SupervisorOrder, folder: string, { bridges }: DoorsOut): Sandbox {
  const path = order.env["PATH"] ?? process.env["PATH"] ?? SYSTEM_PATH;
  const bwrap = order.sandbox === "bubblewrap" ? findProgram("bwrap", `${path}:${SYSTEM_PATH}`) : null;
  // An agent that needs a jail never runs without one.
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

/** Returns the order of an agent, with paths and addresses as the agent sees them in its sandbox. */
export function agentOrderOf(
  order: SupervisorOrder,
  sandbox: Sandbox,
  { mcp, env }: Pick<AgentOrder, "mcp" | "env">,
): AgentOrder {
  const jailed = sandbox.bwrap !== null;
  const home = jailed ? JAIL.home : sandbox.home;
  return {
    settings: order.agent,
    message: order.message,
    resume: order.resume,
    sessionId: order.sessionId,
    jailed,
    tree: jailed ? JAIL.tree : sandbox.tree,
    treeOutside: sandbox.tree,
    home,
    homeOutside: sandbox.home,
    mcp,
    env: {
      ...order.env,
      PATH: pathInside(sandbox),
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
