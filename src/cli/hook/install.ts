import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type HookFile, hookFilesOf, type PromptingAgent, type WantedHook } from "../../connect/agent.ts";
import { AGENTS, isAgent } from "../../connect/registry.ts";
import { hookTurnedOff } from "../../connect/switches.ts";
import { forgetMissing, readRecord, recordHook, textBefore } from "../../config/undo-record.ts";
import { NotJson } from "../../lib/json/json-edit.ts";
import { printable } from "../../lib/printable.ts";
import { hookCommand } from "../../lib/own-program.ts";
import { type Command, type Io, onlyArgument, WrongUsage } from "../command.ts";
import { type Change, CHANGE_FLAGS, CHANGE_OPTIONS, isNothing, makeChanges, textIn } from "../config-file.ts";
import { readBy } from "../ask/by-flag.ts";
import { HOOK_FLAGS, HOOK_OPTIONS, timeoutOf } from "./decide.ts";
import { besideSentences } from "../connect/beside.ts";
import { hookAddresses, httpHookFor, TYPE_FLAG } from "./http-form.ts";
import { serverUrl } from "../server-client.ts";

/** An agent ends a hook that takes longer; the request itself ends before. */
const MARGIN_S = 120;
/** The agents' timers take 31 bits of milliseconds, and end a hook with a longer time at once. */
const LONGEST_S = 24 * 86_400;
const NAMES = Object.keys(AGENTS);
const AGENT_FLAG = { AGENT: NAMES.join(", ") } as const;
const FILE_FLAG = {
  "--file FILE": "the agent's configuration, where it is not its user's own, such as ~/.claude/settings.json",
} as const;

/** The flags of a hook that an agent is to run. */
export const INSTALL_FLAGS = {
  ...HOOK_FLAGS,
  "--timeout TIME": HOOK_FLAGS["--timeout TIME"].replace("30d", "24d"),
} as const;

export const hookInstall: Command = {
  usage:
    "AGENT [--to ID] [--by ID] [--timeout 1h] [--always TOOLS] [--type http|command] [--file FILE] [--dry-run] [--yes]",
  flags: {
    ...AGENT_FLAG,
    ...INSTALL_FLAGS,
    "--always TOOLS": 'ask before every use of these tools, such as "Bash|Write", also where no prompt would appear',
    ...TYPE_FLAG,
    ...FILE_FLAG,
    ...CHANGE_FLAGS,
  },
  choices: { AGENT: NAMES },
  example: "parley hook install claude --dry-run",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...HOOK_OPTIONS, ...CHANGE_OPTIONS, always: { type: "string" }, type: { type: "string" } },
    });
    const agent = await agentIn(positionals);
    const http = await httpHookFor(agent, values, io.env);
    const hook = { ...hookFor(agent, values, io.env), http };
    const changes = hookChanges(agent, { file: values.file, hook, url: values.url }, io.env);
    const { title, name, afterInstall } = agent;
    const [first] = changes;
    const off = first && hookTurnedOff(agent, io.env, { path: first.file, text: first.after });
    if (off) throw new Error(off);
    const done = [
      `${title}'s permission prompts go to Parley in every session that starts from now on.`,
      ...[afterInstall, agent.hookNote ?? ""].filter((sentence) => sentence !== ""),
      "It reads the key from PARLEY_KEY, where there is one, and shows it to the server of PARLEY_URL alone, else to this computer's: export them where you start it.",
      `To take it out: parley hook uninstall ${name}`,
    ];
    const already = `${filesOf(changes)} holds it already.`;
    const missing = new Set(changes.map(({ file }) => file).filter((file) => !existsSync(file)));
    const code = await makeChanges(changes, values, { done: done.join(" "), already }, io);
    const written = changes.filter(({ file, before, after }) => before !== after && textIn(file) === after);
    for (const sentence of besideSentences(agent, io.env, values.url)) io.tell(printable(sentence));
    const noted = written.map((one) => ({
      ...one,
      isNew: missing.has(one.file),
      url: one === first ? http?.url : undefined,
    }));
    await recordHook(noted, io.env);
    return code;
  },
};

export const hookUninstall: Command = {
  usage: "AGENT [--file FILE] [--dry-run] [--yes]",
  flags: { ...AGENT_FLAG, ...FILE_FLAG, ...CHANGE_FLAGS },
  choices: { AGENT: NAMES },
  example: "parley hook uninstall claude",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: CHANGE_OPTIONS });
    const changes = hookChanges(await agentIn(positionals), { file: values.file, hook: null }, io.env);
    const files = filesOf(changes);
    const [done, already] = [`Parley is out of ${files}.`, `There is no Parley in ${files}.`];
    const code = await makeChanges(changes, values, { done, already }, io);
    await forgetMissing(io.env);
    return code;
  },
};

async function agentIn(positionals: readonly string[]): Promise<PromptingAgent> {
  const name = onlyArgument(positionals, "the agent");
  const row = isAgent(name) ? AGENTS[name] : undefined;
  if (!row) throw new WrongUsage(`no such agent: those with hooks are ${NAMES.join(", ")}`);
  return row.load();
}

/** A change of a file of a hook, with its text after the hook is taken out again. */
type HookChange = Change & { without: string };

/**
 * Returns how the files of an agent become such as hold exactly this hook of ours, or none.
 *
 * @throws {WrongUsage} for a named file where the hook needs several, and Error in one sentence for a file that is not understood
 */
function hookChanges(
  agent: PromptingAgent,
  { file: named, hook, url }: { file: string | undefined; hook: WantedHook | null; url?: string | undefined },
  env: Io["env"],
): HookChange[] {
  const record = readRecord(env);
  const files = hookFilesOf(agent, env, hookAddresses(agent, url, env));
  if (named !== undefined && files.length > 1) {
    throw new WrongUsage(`--file is not for ${agent.title}, whose hook needs several files`);
  }
  return files.map((hookFile) => {
    const file = resolve(named ?? hookFile.path);
    const before = textIn(file) ?? "";
    const known = record[file];
    const edited = withHookIn({ file, text: before }, hookFile, hook);
    const after = hook ? edited : textBefore(before, known, edited);
    const without = withHookIn({ file, text: after }, hookFile, null);
    return { file, before, after, without, isEmpty: known?.existed !== true && isNothing(after) };
  });
}

const filesOf = (changes: readonly Change[]): string => changes.map(({ file }) => file).join(", ");

/** Returns the text of a file with exactly this hook of ours, or with none. @throws {Error} one sentence */
export function withHookIn(
  { file, text }: { file: string; text: string },
  hookFile: Pick<HookFile, "withHook">,
  hook: WantedHook | null,
): string {
  try {
    return hookFile.withHook(text, hook);
  } catch (error) {
    if (!(error instanceof NotJson || error instanceof SyntaxError)) throw error;
    throw new Error(`${file} was left as it is: ${error.message}`, { cause: error });
  }
}

export interface HookFlags {
  url?: string | undefined;
  to?: string | undefined;
  by?: string | undefined;
  timeout?: string | undefined;
  always?: string | undefined;
}

/** Returns the hook that these flags describe: which command decides, and how long it may take. @throws {WrongUsage} */
export function hookFor(agent: PromptingAgent, flags: HookFlags, env: Io["env"]): WantedHook {
  const { url, to, by, timeout, always } = flags;
  if (always !== undefined && !agent.takesAlways) {
    throw new WrongUsage(`--always is not for ${agent.title}, whose hook asks without it`);
  }
  const words = [...hookCommand().map(quoted), "hook", agent.name];
  // Without it a repository's settings could name another server, which would be shown the key.
  words.push("--url", quoted(serverUrl(url, env)));
  if (to !== undefined) words.push("--to", quoted(to));
  if (readBy(by) !== undefined) words.push("--by", quoted(by ?? ""));
  if (timeout !== undefined) words.push("--timeout", quoted(timeout));
  const seconds = timeoutOf(timeout);
  if (seconds > LONGEST_S)
    throw new WrongUsage("--timeout of an installed hook is at most 24d: agents count no further");
  return { command: words.join(" "), timeoutSeconds: seconds + MARGIN_S, always };
}

/** A word that a shell takes as it stands. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
