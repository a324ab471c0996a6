import { existsSync } from "node:fs";
import { hookFilesOf, type PromptingAgent, type WantedHook } from "../../connect/agent.ts";
import { type AgentRow, AGENTS, isAgent } from "../../connect/registry.ts";
import { hookTurnedOff } from "../../connect/switches.ts";
import { readRecord, removeFolders, type UndoRecord, writeRecord } from "../../config/undo-record.ts";
import { printable } from "../../lib/printable.ts";
import { hookCommand } from "../../lib/own-program.ts";
import { type Arguments, type Takes, WrongUsage } from "../arguments.ts";
import { command, EXIT, type Io } from "../command.ts";
import { type Change, CHANGE_FLAGS, makeChanges, textIn } from "../config-file.ts";
import { HOOK_FLAGS, timeoutOf } from "./decide.ts";
import { besideSentences } from "../connect/beside.ts";
import { connecting, disconnecting, type FileChange, recordWith } from "../connect/file-changes.ts";
import { type ParleyPart, partsOf } from "../connect/parts.ts";
import { httpHookFor, TYPE_FLAG } from "./http-form.ts";
import { serverUrl } from "../server-client.ts";

/** An agent ends a hook that takes longer; the request itself ends before. */
const MARGIN_S = 120;
/** The agents' timers take 31 bits of milliseconds, and end a hook with a longer time at once. */
const LONGEST_S = 24 * 86_400;
const NAMES = Object.keys(AGENTS);
const AGENT = { AGENT: { help: NAMES.join(", "), choices: NAMES, read: rowNamed } } as const satisfies Takes;
const FILE_FLAG = {
  "--file FILE": "the agent's configuration, where it is not its user's own, such as ~/.claude/settings.json",
} as const satisfies Takes;

/** The flags of a hook that an agent is to run. */
export const INSTALL_FLAGS = {
  ...HOOK_FLAGS,
  "--timeout TIME": HOOK_FLAGS["--timeout TIME"].replace("30d", "24d"),
} as const satisfies Takes;

export const hookInstall = command({
  takes: {
    ...AGENT,
    ...INSTALL_FLAGS,
    "--always TOOLS": 'ask before every use of these tools, such as "Bash|Write", also where no prompt would appear',
    ...TYPE_FLAG,
    ...FILE_FLAG,
    ...CHANGE_FLAGS,
  },
  example: "parley hook install claude --dry-run",
  async run({ agent: row, ...values }, io) {
    const agent = await row.load();
    const http = await httpHookFor(agent, values, io.env);
    const hook = { ...hookFor(agent, values, io.env), http };
    const record = readRecord(io.env);
    const changes = connecting({ parts: hookParts(agent, values, io.env) }, { hook }, record);
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
    const code = await recorded(changes, record, io, (noting) =>
      makeChanges(changes, values, { done: done.join(" "), already, first: noting }, io),
    );
    for (const sentence of besideSentences(agent, io.env, values.url)) io.tell(printable(sentence));
    return code;
  },
});

/** Makes changes with the record of them before, and without it where one could not be made. */
async function recorded(
  changes: readonly FileChange[],
  record: UndoRecord,
  io: Io,
  make: (noting: () => Promise<void>) => Promise<number>,
): Promise<number> {
  const made = changes.filter(({ before, after }) => before !== after);
  try {
    return await make(() => writeRecord(recordWith(made, record), io.env));
  } catch (error) {
    const isThere = made.filter(({ file, after }) => textIn(file) === after);
    await writeRecord(recordWith(isThere, record), io.env).catch(() => undefined);
    throw error;
  }
}

export const hookUninstall = command({
  takes: { ...AGENT, ...FILE_FLAG, ...CHANGE_FLAGS },
  example: "parley hook uninstall claude",
  async run({ agent: row, file, ...values }, io) {
    const agent = await row.load();
    const record = readRecord(io.env);
    const parts = hookParts(agent, { file }, io.env);
    const changes = disconnecting({ parts }, record, ({ kind }) => kind === "hook");
    const files = [...new Set(parts.map(({ file }) => file))].join(", ");
    const [done, already] = [`Parley is out of ${files}.`, `There is no Parley in ${files}.`];
    const code = await makeChanges(changes, values, { done, already }, io);
    if (code !== EXIT.done || values.dryRun) return code;
    for (const { file: path, isEmpty } of changes) if (isEmpty) removeFolders(path, record[path]?.madeFolder);
    const left = Object.entries(recordWith(changes, record)).filter(([path]) => existsSync(path));
    await writeRecord(Object.fromEntries(left), io.env);
    return code;
  },
});

function rowNamed(name: string): AgentRow {
  const row = isAgent(name) ? AGENTS[name] : undefined;
  if (!row) throw new WrongUsage(`no such agent: those with hooks are ${NAMES.join(", ")}`);
  return row;
}

/**
 * Returns the parts of Parley's in the files of an agent's hook.
 *
 * @throws {WrongUsage} for a named file where the hook needs several
 */
function hookParts(
  agent: PromptingAgent,
  { file, url }: { file?: string | undefined; url?: string | undefined },
  env: Io["env"],
): ParleyPart[] {
  const parts = partsOf(agent, env, url, file);
  const files = new Set(parts.flatMap((part) => (part.kind === "hook" ? [part.file] : [])));
  if (file !== undefined && hookFilesOf(agent, env).length > 1) {
    throw new WrongUsage(`--file is not for ${agent.title}, whose hook needs several files`);
  }
  return parts.filter((part) => files.has(part.file));
}

const filesOf = (changes: readonly Change[]): string => changes.map(({ file }) => file).join(", ");

type HookFlags = Partial<Arguments<typeof INSTALL_FLAGS>> & { always?: string | undefined };

/** Returns the hook that these flags describe: which command decides, and how long it may take. @throws {WrongUsage} */
export function hookFor(agent: PromptingAgent, flags: HookFlags, env: Io["env"]): WantedHook {
  const { url, to, by, timeout, always } = flags;
  if (always !== undefined && !agent.takesAlways) {
    throw new WrongUsage(`--always is not for ${agent.title}, whose hook asks without it`);
  }
  const words = [...hookCommand().map(quoted), "hook", agent.name];
  // Without it a repository's settings could name another server, which would be shown the key.
  words.push("--url", quoted(serverUrl(url, env)));
  const over = agent.after && [...words, "--over"].join(" ");
  if (to !== undefined) words.push("--to", quoted(to));
  if (by !== undefined) words.push("--by", quoted(String(by)));
  if (timeout !== undefined) words.push("--timeout", quoted(timeout));
  if (over !== undefined) words.push("--reports");
  const seconds = timeoutOf(timeout);
  if (seconds > LONGEST_S)
    throw new WrongUsage("--timeout of an installed hook is at most 24d: agents count no further");
  return { command: words.join(" "), timeoutSeconds: seconds + MARGIN_S, always, over };
}

/** A word that a shell takes as it stands. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
