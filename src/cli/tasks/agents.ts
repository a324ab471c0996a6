import { systemClock } from "../../lib/clock.ts";
import { printable } from "../../lib/printable.ts";
import type { AssignmentRules } from "../../tasks/model/rules.ts";
import { findAgents, type FoundAgent } from "../../workshop/agents/find-agents.ts";
import { NO_SANDBOX, selfTest } from "../../workshop/sandbox/sandbox.ts";
import { configOf } from "../command-config.ts";
import { command, EXIT, type Io, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { print, table } from "../print.ts";

export const agents = command({
  takes: { ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley agents",
  async run({ json, ...place }, io) {
    const { assignment } = configOf(place, io);
    const { found, hasSandbox } = await lookForAgents(assignment, io);
    const rows = found.map((one) => [one.name, one.type, one.version ?? "-", stateOf(one)]);
    print(json, found, table(["AGENT", "TYPE", "VERSION", "STATE"], rows), io);
    if (!json && !hasSandbox && assignment.sandbox !== "off") io.tell(NO_SANDBOX);
    return found.some(({ works }) => works) ? EXIT.done : EXIT.refused;
  },
});

/** Looks for agents as the server would start them: in a sandbox where one works. */
async function lookForAgents(
  { agents: configured, sandbox, workDir }: AssignmentRules,
  { env }: Pick<Io, "env">,
): Promise<{ found: FoundAgent[]; hasSandbox: boolean }> {
  const hasSandbox = sandbox !== "off" && (await selfTest({ dataFolder: workDir, clock: systemClock })).kind !== "none";
  const refusal = (needsSandbox: boolean): string | null => {
    if (hasSandbox || sandbox === "off") return null;
    if (sandbox === "require") return "needs a sandbox: assignment.sandbox is require";
    return needsSandbox ? "needs a sandbox or assignment.sandbox: off" : null;
  };
  return { found: await findAgents(configured, { env, clock: systemClock, refusal }), hasSandbox };
}

/** Returns what a report says of the agents that could be given work; nothing where there is no repository to work in. */
export async function agentFacts(rules: AssignmentRules, io: Pick<Io, "env">): Promise<Record<string, string>> {
  if (rules.repos.length === 0) return {};
  const { found, hasSandbox } = await lookForAgents(rules, io);
  const agentLines = found.map((one) => [`agent_${one.name}`, [one.version, stateOf(one)].filter(Boolean).join(" ")]);
  const sandbox = hasSandbox ? "bubblewrap" : rules.sandbox === "off" ? "off" : NO_SANDBOX;
  return { sandbox, ...(Object.fromEntries(agentLines) as Record<string, string>) };
}

/** Returns whether an agent works, and what to know of it, in one line that a terminal can show. */
function stateOf({ works, why, remarks }: FoundAgent): string {
  return printable([works ? "works" : `does not work: ${why ?? ""}`, ...remarks].join("; "));
}
