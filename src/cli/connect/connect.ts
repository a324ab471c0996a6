import { parseArgs } from "node:util";
import type { WantedHook } from "../../connect/agent.ts";
import { AGENTS } from "../../connect/registry.ts";
import { printable } from "../../lib/printable.ts";
import { type Command, EXIT, type Io } from "../command.ts";
import { CHANGE_FLAGS, isAgreed, showChange, writeChange } from "../config-file.ts";
import { HOOK_OPTIONS } from "../hook/decide.ts";
import { httpHookFor } from "../hook/http-form.ts";
import { hookFor, INSTALL_FLAGS } from "../hook/install.ts";
import { keySentence } from "../mcp/clients.ts";
import { ownKey, serverUrl } from "../server-client.ts";
import { table } from "../table.ts";
import { connecting, type FileChange } from "./file-changes.ts";
import { agentsNamed, eachReadable, type LocalAgent, rowOf } from "./found.ts";
import { mcpClientOf, type WantedParts } from "./parts.ts";
import { tryPrompts } from "./test-prompt.ts";
import { readRecord, type UndoRecord, writeRecord } from "./undo-record.ts";

const NAMES = Object.keys(AGENTS);

export const connect: Command = {
  usage: "[AGENT...] [--to ID] [--by ID] [--timeout 1h] [--url URL] [--no-test] [--dry-run] [--yes]",
  flags: {
    AGENT: `${NAMES.join(", ")}; left out, all that are found here`,
    ...INSTALL_FLAGS,
    "--no-test": "raise no prompt of each agent to see whether it reaches people",
    ...CHANGE_FLAGS,
  },
  choices: { AGENT: NAMES },
  example: "parley connect --dry-run",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...HOOK_OPTIONS,
        "no-test": { type: "boolean" },
        "dry-run": { type: "boolean" },
        yes: { type: "boolean" },
      },
    });
    const agents = await chosen(positionals, io);
    if (agents.length === 0) {
      io.tell(`No agent was found here. There are ${NAMES.join(", ")}: name one to connect it before it is installed.`);
      return values["dry-run"] ? EXIT.done : EXIT.refused;
    }
    const record = readRecord(io.env);
    const hooks = new Map<LocalAgent, WantedHook>();
    for (const one of agents) {
      const http = await httpHookFor(one.agent, values, io.env);
      hooks.set(one, { ...hookFor(one.agent, values, io.env), http });
    }
    const url = serverUrl(values.url, io.env);
    const address = { url: `${url}/mcp`, key: ownKey(url, io.env) };
    const planOf = (one: LocalAgent): Plan => {
      const wanted = { hook: hooks.get(one) ?? hookFor(one.agent, values, io.env), address };
      return { one, wanted, changes: connecting(one, wanted, record) };
    };
    const plans = eachReadable(agents, planOf, io);
    const changes = plans.flatMap((plan) => plan.changes).filter(({ before, after }) => before !== after);
    for (const change of changes) showChange(change, io);
    showAgents(agents, io);
    if (values["dry-run"] || (changes.length > 0 && !(await isAgreed(values, io)))) {
      io.tell("Nothing was written.");
      return values["dry-run"] ? EXIT.done : EXIT.refused;
    }
    await writeAll(changes, record, io.env);
    for (const { one, wanted } of plans) tellConnected(one, wanted, io);
    const tried = plans.map(({ one, wanted }) => ({ agent: one.agent, hook: wanted.hook }));
    const code = values["no-test"] ? EXIT.done : await tryPrompts(tried, values.timeout, io);
    return code === EXIT.done && plans.length < agents.length ? EXIT.refused : code;
  },
};

/** Returns the agents that are named, or those that are found here. @throws {WrongUsage} */
async function chosen(names: readonly string[], io: Io): Promise<LocalAgent[]> {
  const agents = await agentsNamed(names, io.env);
  if (names.length > 0) return agents;
  const missing = agents.filter(({ isHere }) => !isHere).map(({ agent }) => agent.title);
  if (missing.length > 0) io.tell(`Not found here: ${missing.join(", ")}.`);
  return agents.filter(({ isHere }) => isHere);
}

interface Plan {
  one: LocalAgent;
  wanted: WantedParts;
  changes: FileChange[];
}

/** Shows one table of the agents, and below it the prompts of each that cannot reach people. */
function showAgents(agents: readonly LocalAgent[], io: Io): void {
  const rows = agents.map((one) => [...rowOf(one, io.env), one.agent.events.join(", ")]);
  for (const line of table(["AGENT", "VERSION", "HOOK", "MCP", "FILES", "REACHES PEOPLE"], rows))
    io.out(printable(line));
  for (const { agent } of agents) {
    const uncovered = agent.uncovered.map(({ prompt, because }) => `${prompt} (${because})`);
    io.tell(`${agent.title} keeps for itself: ${uncovered.join("; ")}.`);
  }
}

/** The record is written first: what is not recorded could not be undone to the byte. */
async function writeAll(changes: readonly FileChange[], record: UndoRecord, env: Io["env"]): Promise<void> {
  const next = new Map(Object.entries(record));
  for (const { file, record: of } of changes) if (of) next.set(file, of);
  await writeRecord(Object.fromEntries(next), env);
  for (const change of changes) await writeChange(change);
}

function tellConnected({ agent }: LocalAgent, { address }: WantedParts, io: Io): void {
  const client = mcpClientOf(agent);
  const words = [
    `${agent.title} is connected: its prompts go to Parley in every session that starts from now on.`,
    agent.afterInstall,
    client ? keySentence(client, address) : "",
    `To take it out: parley disconnect ${agent.name}`,
  ];
  io.tell(words.filter((word) => word !== "").join(" "));
}
