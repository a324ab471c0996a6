import { resolve } from "node:path";
import type { WantedHook } from "../../connect/agent.ts";
import { AGENTS } from "../../connect/registry.ts";
import { printable } from "../../lib/printable.ts";
import { command, EXIT, type Io } from "../command.ts";
import { CHANGE_FLAGS, isAgreed, showChange, textIn, writeChange, writeText } from "../config-file.ts";
import { httpHookFor } from "../hook/http-form.ts";
import { hookFor, INSTALL_FLAGS } from "../hook/install.ts";
import { keySentence } from "../mcp/clients.ts";
import { countEntries } from "../policy/own-lists.ts";
import { ownKey, serverUrl } from "../server-client.ts";
import { table } from "../print.ts";
import { besideSentences } from "./beside.ts";
import { connecting, type FileChange, recordWith } from "./file-changes.ts";
import { agentWords, agentsNamed, eachReadable, type LocalAgent, rowOf } from "./found.ts";
import { isIn, mcpClientOf, type WantedParts } from "./parts.ts";
import { offerRules, RULES_FLAG } from "./starter-rules.ts";
import { tryPrompts } from "./test-prompt.ts";
import { readRecord, writeRecord } from "../../config/undo-record.ts";

const NAMES = Object.keys(AGENTS);

export const connect = command({
  takes: {
    ...agentWords("all that are found here"),
    ...INSTALL_FLAGS,
    "--no-test": "raise no prompt of each agent to see whether it reaches people",
    ...RULES_FLAG,
    ...CHANGE_FLAGS,
  },
  example: "parley connect --dry-run",
  async run({ agent: names, dryRun, ...values }, io) {
    const agents = await chosen(names, values.url, io);
    if (agents.length === 0) {
      io.tell(`No agent was found here. There are ${NAMES.join(", ")}: name one to connect it before it is installed.`);
      return dryRun ? EXIT.done : EXIT.refused;
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
      const changes = connecting(one, wanted, record);
      refuseTurnedOff(one, changes, io.env);
      return { one, wanted, changes };
    };
    const plans = eachReadable(agents, planOf, io);
    const changes = plans.flatMap((plan) => plan.changes).filter(({ before, after }) => before !== after);
    for (const change of changes) showChange(change, io);
    showAgents(agents, io);
    if (dryRun || (changes.length > 0 && !(await isAgreed(values, io)))) {
      io.tell("Nothing was written.");
      return dryRun ? EXIT.done : EXIT.refused;
    }
    await writeRecord(recordWith(changes, record), io.env);
    const connected: Plan[] = [];
    for (const plan of plans) if (await writeConfirmed(plan, io)) connected.push(plan);
    const isMade = ({ file }: FileChange) => connected.some((plan) => plan.changes.some((one) => one.file === file));
    if (connected.length < plans.length) await writeRecord(recordWith(changes.filter(isMade), record), io.env);
    for (const { one, wanted } of connected) tellConnected(one, wanted, io);
    for (const { one } of connected) await tellLists(one, io);
    const offered = connected.length > 0 ? await offerRules({ ...values, url }, io) : EXIT.done;
    const tried = connected.map(({ one, wanted }) => ({ agent: one.agent, hook: wanted.hook }));
    const code = values.noTest ? EXIT.done : await tryPrompts(tried, values.timeout, io);
    return code === EXIT.done && connected.length < agents.length ? EXIT.refused : code || offered;
  },
});

/** Returns the agents that are named, or those that are found here. @throws {WrongUsage} */
async function chosen(names: readonly string[], url: string | undefined, io: Io): Promise<LocalAgent[]> {
  const agents = await agentsNamed(names, io.env, url);
  if (names.length > 0) return agents;
  const missing = agents.filter(({ isHere }) => !isHere).map(({ agent }) => agent.title);
  if (missing.length > 0) io.tell(`Not found here: ${missing.join(", ")}.`);
  return agents.filter(({ isHere }) => isHere);
}

interface Plan {
  one: LocalAgent;
  wanted: Required<WantedParts>;
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
    for (const sentence of besideSentences(agent, io.env)) io.tell(printable(sentence));
  }
}

/** @throws {Error} in one sentence, where the agent would run no hook: nothing is written then */
function refuseTurnedOff(one: LocalAgent, changes: readonly FileChange[], env: Io["env"]): void {
  const hookFile = resolve(one.agent.file(env));
  const off = one.turnedOff(changes.find(({ file }) => file === hookFile)?.after);
  if (off !== null) throw new Error(`${off} ${one.agent.title} is not connected.`);
}

/** Writes the files of an agent, reads them back as the agent will, and returns whether it finds its hook in force. */
async function writeConfirmed({ one, changes }: Plan, io: Io): Promise<boolean> {
  const made = changes.filter(({ before, after }) => before !== after);
  const isNew = new Map(made.map(({ file }) => [file, textIn(file) === null]));
  for (const change of made) await writeChange(change);
  try {
    const isAsWritten = made.every(({ file, after }) => textIn(file) === after);
    const isInForce = one.parts.every((part) => isIn(part, textIn(part.file) ?? ""));
    const off = one.turnedOff();
    if (isAsWritten && isInForce && off === null) return true;
    throw new Error(off ?? "its files do not hold what was written");
  } catch (error) {
    for (const { file, before } of made) await writeText(file, isNew.get(file) ? null : before);
    io.tell(`${one.agent.title} is not connected, and its files are as before: ${(error as Error).message}`);
    return false;
  }
}

function tellConnected({ agent }: LocalAgent, { address }: Required<WantedParts>, io: Io): void {
  const client = mcpClientOf(agent);
  const words = [
    `${agent.title} is connected: its prompts go to Parley in every session that starts from now on.`,
    agent.afterInstall,
    agent.hookNote ?? "",
    client ? keySentence(client, address) : "",
    `To take it out: parley disconnect ${agent.name}`,
  ];
  io.tell(words.filter((word) => word !== "").join(" "));
}

async function tellLists({ agent: { name, title } }: LocalAgent, io: Io): Promise<void> {
  const count = await countEntries(name, io.env);
  const entries = count === 1 ? "1 entry" : `${count} entries`;
  if (count > 0)
    io.tell(`${title} has lists of its own, with ${entries}. To print them as rules: parley policy import ${name}`);
}
