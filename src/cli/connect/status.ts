import { startProblem, startRemark, startsIn } from "../../connect/hook-start.ts";
import { systemClock } from "../../lib/clock.ts";
import { printable } from "../../lib/printable.ts";
import { command, EXIT, type Io, JSON_FLAG } from "../command.ts";
import { textIn } from "../config-file.ts";
import { serverUrl } from "../server-client.ts";
import { table } from "../print.ts";
import { besideSentences } from "./beside.ts";
import { agentsNamed, eachReadable, type LocalAgent, rowOf, stateOf } from "./found.ts";
import { type LastPrompts, promptWords, readLastPrompts } from "./last-prompts.ts";

export const connectStatus = command({
  takes: {
    "--url URL": "the server that tells the last prompts, else PARLEY_URL, else the one that runs on this computer",
    ...JSON_FLAG,
  },
  example: "parley connect status",
  async run({ url, json }, io) {
    const agents = (await agentsNamed([], io.env)).filter((one) => one.isHere);
    const states = eachReadable(agents, (one) => ({ one, isIn: stateOf(one, "hook") === true }), io);
    const starts = new Map<LocalAgent, HookState>();
    for (const { one, isIn } of states) if (isIn) starts.set(one, await readHookState(one, io.env));
    const prompts = agents.length === 0 ? null : await promptsOf(agents, url, io);
    if (json) {
      io.out(JSON.stringify(agents.map((one) => jsonRow(one, { prompts, start: starts.get(one) }, io.env))));
      return EXIT.done;
    }
    const works = states.filter(({ one }) => starts.get(one)?.broken === false);
    io.out(`${works.length} of ${agents.length} agents of this computer go through Parley`);
    if (agents.length > 0) showAgents(agents, { prompts, starts }, io);
    for (const off of eachReadable(agents, (one) => one.turnedOff(), io)) if (off !== null) io.tell(off);
    for (const { sentences } of starts.values()) for (const sentence of sentences) io.tell(printable(sentence));
    for (const { one, isIn } of states) if (isIn) tellBeside(one, io);
    const missing = states.filter(({ isIn }) => !isIn).map(({ one }) => one.agent.name);
    if (missing.length > 0) io.tell(`To connect the others: parley connect ${missing.join(" ")}`);
    return EXIT.done;
  },
});

/** Tells what decides beside Parley's hook, and the other way to people that must not be on. */
function tellBeside(one: LocalAgent, io: Io): void {
  for (const sentence of besideSentences(one.agent, io.env)) io.tell(printable(sentence));
  if (one.agent.hookNote !== undefined && stateOf(one, "mcp") === true) io.tell(one.agent.hookNote);
}

function promptsOf(agents: readonly LocalAgent[], url: string | undefined, io: Io): Promise<LastPrompts | null> {
  const named = agents.map(({ agent }) => agent);
  return readLastPrompts(named, serverUrl(url, io.env), io);
}

/** Whether a hook that is installed would start, and sentences about its start. */
interface HookState {
  broken: boolean;
  sentences: string[];
}

async function readHookState({ agent, parts }: LocalAgent, env: Io["env"]): Promise<HookState> {
  const files = parts.filter(({ kind }) => kind === "hook").map(({ file }) => textIn(file) ?? "");
  const starts = files.flatMap((text) => startsIn(text, agent.name, env));
  const problems = (await Promise.all(starts.map((start) => startProblem(start, env)))).filter((one) => one !== null);
  const isBroken = problems.length > 0;
  const remarks = () =>
    starts.flatMap((start) => startRemark(start, env) ?? []).map((why) => ({ why, mend: undefined }));
  const sentences = (isBroken ? problems : remarks()).map(
    ({ why, mend }) => `${agent.title}: its hook ${why}. ${mend ?? `To renew it: parley connect ${agent.name}`}`,
  );
  return { broken: isBroken, sentences: [...new Set(sentences)] };
}

/** The last prompt is null for an agent that has sent none, and left out where the server does not tell it. */
function jsonRow(
  one: LocalAgent,
  { prompts, start }: { prompts: LastPrompts | null; start: HookState | undefined },
  env: Io["env"],
): object {
  const [, , hook, mcp] = stateRow(one, start, env);
  return {
    agent: one.agent.name,
    version: one.version,
    hook,
    mcp,
    problems: start?.sentences ?? [],
    beside: start ? besideSentences(one.agent, env) : [],
    files: [...new Set(one.parts.map(({ file }) => file))],
    ...(prompts && { last_prompt: prompts.get(one.agent.name) ?? null }),
  };
}

function stateRow(one: LocalAgent, start: HookState | undefined, env: Io["env"]): string[] {
  const row = rowOf(one, env);
  return start?.broken ? row.with(2, "broken") : row;
}

/** The column of files stays the last, because it is the widest. */
function showAgents(
  agents: readonly LocalAgent[],
  { prompts, starts }: { prompts: LastPrompts | null; starts: ReadonlyMap<LocalAgent, HookState> },
  io: Io,
): void {
  const wide = (cells: readonly string[], prompt: string) => (prompts ? cells.toSpliced(-1, 0, prompt) : cells);
  const head = wide(["AGENT", "VERSION", "HOOK", "MCP", "FILES"], "LAST PROMPT");
  const now = systemClock.now();
  const rows = agents.map((one) =>
    wide(stateRow(one, starts.get(one), io.env), promptWords(prompts?.get(one.agent.name) ?? null, now)),
  );
  for (const line of table(head, rows)) io.out(printable(line));
}
