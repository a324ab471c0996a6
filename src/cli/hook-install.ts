import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { editJson, isEmptyJson, NotJson } from "../lib/json-edit.ts";
import { type Command, EXIT, type Io, onlyArgument, WrongUsage } from "./command.ts";
import { changeFile, showChange } from "./config-file.ts";
import { HOOK_FLAGS, HOOK_OPTIONS, timeoutOf } from "./hook-claude.ts";

/** Claude Code ends a hook that takes longer; the request itself ends before. */
const MARGIN_S = 120;
const EVENTS = ["PermissionRequest", "PreToolUse"] as const;
const OURS = /\bhook claude\b/;

export const hookInstall: Command = {
  usage: "claude [--to ID] [--timeout 1h] [--always TOOLS] [--file FILE] [--undo]",
  flags: {
    ...HOOK_FLAGS,
    "--always TOOLS": 'ask before every use of these tools, such as "Bash|Write", also where no prompt would appear',
    "--file FILE": "Claude Code's settings, where they are not ~/.claude/settings.json",
    "--undo": "take Parley out again",
  },
  example: "parley hook install claude",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...HOOK_OPTIONS, always: { type: "string" }, file: { type: "string" }, undo: { type: "boolean" } },
    });
    if (onlyArgument(positionals, "the program") !== "claude") throw new WrongUsage("only claude has such hooks");
    const file = resolve(values.file ?? usualFile(io.env));
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    const after = edited(before, file, values.undo ? null : hooksFor(values, io.env));
    if (after === before) {
      io.tell(values.undo ? `There is no Parley in ${file}.` : `${file} holds it already.`);
      return EXIT.done;
    }
    showChange(file, before, after, io);
    if (values.undo && isEmptyJson(after)) rmSync(file);
    else await changeFile(file, after);
    io.tell(
      values.undo
        ? `Parley is out of ${file}.`
        : "Claude Code's permission prompts go to Parley in every session that starts from now on. It reads the key from PARLEY_KEY, where there is one: export that where you start it.",
    );
    return EXIT.done;
  },
};

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

interface Given {
  url?: string | undefined;
  to?: string | undefined;
  timeout?: string | undefined;
  always?: string | undefined;
}

/** Returns what Claude Code is told: which command decides, for which tools, and how long it may take. */
function hooksFor({ url, to, timeout, always }: Given, env: Io["env"]): Hooks {
  const server = url ?? env["PARLEY_URL"];
  const words = ["parley", "hook", "claude"];
  if (server) words.push("--url", quoted(server));
  if (to !== undefined) words.push("--to", quoted(to));
  if (timeout !== undefined) words.push("--timeout", quoted(timeout));
  const hook: Hook = { type: "command", command: words.join(" "), timeout: timeoutOf(timeout) + MARGIN_S };
  return {
    PermissionRequest: { matcher: "*", hooks: [hook] },
    ...(always !== undefined && { PreToolUse: { matcher: always, hooks: [hook] } }),
  };
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
      const standing = groupsOf(after, event);
      const others = standing.flatMap(withoutOurs);
      const ours = wanted?.[event];
      const groups = ours ? [...others, ours] : others;
      if (JSON.stringify(groups) === JSON.stringify(standing)) continue;
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
