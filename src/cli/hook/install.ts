import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { editJson, isEmptyJson, NotJson } from "../../lib/json/json-edit.ts";
import { ownCommand } from "../../lib/own-program.ts";
import { type Command, type Io, onlyArgument, WrongUsage } from "../command.ts";
import { type Change, CHANGE_FLAGS, CHANGE_OPTIONS, makeChange } from "../config-file.ts";
import { readBy } from "../ask/decided-by.ts";
import { HOOK_FLAGS, HOOK_OPTIONS, timeoutOf } from "./claude.ts";
import { serverUrl } from "../server-client.ts";

/** Claude Code ends a hook that takes longer; the request itself ends before. */
const MARGIN_S = 120;
const EVENTS = ["PermissionRequest", "PreToolUse"] as const;
const OURS = /\bhook claude\b/;

const FILE_FLAG = { "--file FILE": "Claude Code's settings, where they are not ~/.claude/settings.json" } as const;

export const hookInstall: Command = {
  usage: "claude [--to ID] [--by ID] [--timeout 1h] [--always TOOLS] [--file FILE] [--dry-run] [--yes]",
  flags: {
    ...HOOK_FLAGS,
    "--always TOOLS": 'ask before every use of these tools, such as "Bash|Write", also where no prompt would appear',
    ...FILE_FLAG,
    ...CHANGE_FLAGS,
  },
  example: "parley hook install claude --dry-run",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...HOOK_OPTIONS, ...CHANGE_OPTIONS, always: { type: "string" } },
    });
    const change = changeOf({ positionals, file: values.file }, hooksFor(values, io.env), io);
    const done =
      "Claude Code's permission prompts go to Parley in every session that starts from now on. It reads the key from PARLEY_KEY, where there is one, and shows it to the server of PARLEY_URL alone, else to this computer's: export them where you start it. To take it out: parley hook uninstall claude";
    return makeChange(change, values, { done, already: `${change.file} holds it already.` }, io);
  },
};

export const hookUninstall: Command = {
  usage: "claude [--file FILE] [--dry-run] [--yes]",
  flags: { ...FILE_FLAG, ...CHANGE_FLAGS },
  example: "parley hook uninstall claude",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: CHANGE_OPTIONS });
    const change = changeOf({ positionals, file: values.file }, null, io);
    const [done, already] = [`Parley is out of ${change.file}.`, `There is no Parley in ${change.file}.`];
    return makeChange(change, values, { done, already }, io);
  },
};

/** Returns how the settings become those with exactly these hooks of ours. @throws {WrongUsage} for another program */
function changeOf(
  { positionals, file: named }: { positionals: readonly string[]; file: string | undefined },
  wanted: Hooks | null,
  io: Io,
): Change {
  if (onlyArgument(positionals, "the program") !== "claude") throw new WrongUsage("only claude has such hooks");
  const file = resolve(named ?? usualFile(io.env));
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const after = edited(before, file, wanted);
  return { file, before, after, isEmpty: isEmptyJson(after) };
}

function usualFile(env: Io["env"]): string {
  return join(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] ?? env["USERPROFILE"] ?? ".", ".claude"), "settings.json");
}

interface Hook {
  type: "command";
  command: string;
  timeout: number;
}
interface Group {
  matcher: string;
  hooks: Hook[];
}
type Hooks = Partial<Record<(typeof EVENTS)[number], Group>>;

interface HookFlags {
  url?: string | undefined;
  to?: string | undefined;
  by?: string | undefined;
  timeout?: string | undefined;
  always?: string | undefined;
}

/** Returns the hook settings of Claude Code: which command decides, for which tools, and how long it may take. */
function hooksFor({ url, to, by, timeout, always }: HookFlags, env: Io["env"]): Hooks {
  const words = [...ownCommand().map(quoted), "hook", "claude"];
  const server = serverUrl(url, env);
  if (url !== undefined || server !== serverUrl(undefined, withoutOurVariables(env))) {
    words.push("--url", quoted(server));
  }
  if (to !== undefined) words.push("--to", quoted(to));
  if (readBy(by) !== undefined) words.push("--by", quoted(by ?? ""));
  if (timeout !== undefined) words.push("--timeout", quoted(timeout));
  const hook: Hook = { type: "command", command: words.join(" "), timeout: timeoutOf(timeout) + MARGIN_S };
  return {
    PermissionRequest: { matcher: "*", hooks: [hook] },
    ...(always !== undefined && { PreToolUse: { matcher: always, hooks: [hook] } }),
  };
}

/** Returns the variables that a hook can rely on. Those of this terminal need not be set for Claude Code. */
function withoutOurVariables({ HOME, USERPROFILE, XDG_DATA_HOME }: Io["env"]): Io["env"] {
  return { HOME, USERPROFILE, XDG_DATA_HOME };
}

/** A word that a shell takes as it stands. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Returns the settings with exactly these hooks of ours, and everybody else's as they were. @throws {Error} one sentence */
function edited(text: string, file: string, wanted: Hooks | null): string {
  try {
    let after = text;
    for (const event of EVENTS) {
      const existing = groupsOf(after, event);
      const others = existing.flatMap(withoutOurs);
      const ours = wanted?.[event];
      const groups = ours ? [...others, ours] : others;
      if (JSON.stringify(groups) === JSON.stringify(existing)) continue;
      after = editJson(after, ["hooks", event], groups.length > 0 ? groups : undefined);
    }
    return after;
  } catch (error) {
    if (!(error instanceof NotJson || error instanceof SyntaxError)) throw error;
    throw new Error(`${file} was left as it is: ${error.message}`, { cause: error });
  }
}

function groupsOf(text: string, event: string): unknown[] {
  if (text.trim() === "") return [];
  const { hooks } = JSON.parse(text) as { hooks?: Record<string, unknown> };
  const groups = hooks?.[event] ?? [];
  if (!Array.isArray(groups)) throw new NotJson(`hooks.${event} is no list`);
  return groups;
}

/** Returns the group without our hook; nothing where it held no other. */
function withoutOurs(group: unknown): unknown[] {
  const { hooks } = (group ?? {}) as { hooks?: unknown };
  if (!Array.isArray(hooks)) return [group];
  const others = hooks.filter((hook: unknown) => !OURS.test(String((hook as { command?: unknown } | null)?.command)));
  if (others.length === hooks.length) return [group];
  return others.length > 0 ? [{ ...(group as object), hooks: others }] : [];
}
