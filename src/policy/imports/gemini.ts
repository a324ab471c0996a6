import { basename, dirname, join } from "node:path";
import { parse, TomlError, type TomlTable } from "smol-toml";
import { jsonAt } from "../../lib/json/json-edit.ts";
import type { PolicyEffect } from "../model/policy.ts";
import {
  type AgentLists,
  type SettingsBlock,
  blockOf,
  type Carried,
  left,
  type ListEntry,
  type ListFile,
  rowOf,
  textsOf,
  UnreadList,
} from "./agent-list.ts";
import { ANY_COMMAND, commandParts } from "./command-patterns.ts";
import { withExceptions } from "./exceptions.ts";
import { filesOfFolder, onlyIn } from "./path-patterns.ts";

const DECISIONS: Readonly<Record<string, PolicyEffect>> = { allow: "ALLOW", ask_user: "ESCALATE", deny: "DENY" };
const SHELL = "run_shell_command";
const SHELL_NAMES = new Set([SHELL, "ShellTool"]);
const FILE_TOOLS = new Set(
  "read_file write_file replace list_directory glob grep_search search_file_content".split(" "),
);
const CHANGES = new Set(["write_file", "replace"]);
/** The members of a rule that change nothing of which calls it is about, or that prompts show; none shows another one. */
const SEEN = new Set(
  "toolName mcpName commandPrefix decision priority name description denyMessage deny_message allowRedirection".split(
    " ",
  ),
);
/** The files of an administrator come before those of the user. */
const ADMINISTRATOR = 1000;
const HIGHEST = 3 * ADMINISTRATOR;
/** The ranks that its lists in the settings have among the rules of the user's files. */
const RANKS = { exclude: 400, confirmationRequired: 350, allowed: 300, core: 250 } as const;
const ORDER: Readonly<Record<PolicyEffect, number>> = { ALLOW: 0, ESCALATE: 1, DENY: 2 };

/** Gemini CLI 0.61.0: rules of its policies, of which the one with the highest priority decides, and `tools` of its settings. */
export const geminiLists: AgentLists = {
  places: ({ home, project, env }) => {
    const own = join(env["GEMINI_CLI_HOME"] || home, ".gemini");
    return [
      join(own, "settings.json"),
      join(own, "policies", "*.toml"),
      join(project, ".gemini", "settings.json"),
      join("/etc/gemini-cli", "policies", "*.toml"),
    ];
  },
  projectOf: (path, home) => {
    const isSettings = basename(path) === "settings.json" && basename(dirname(path)) === ".gemini";
    return isSettings && dirname(dirname(path)) !== home ? dirname(dirname(path)) : null;
  },
  read(files) {
    const ranked = files.flatMap((file) => (file.path.endsWith(".toml") ? rulesIn(file) : settingsIn(file)));
    // Of two with one priority the stronger one counts here.
    const ordered = ranked.toSorted(
      (one, other) => one.rank - other.rank || ORDER[one.decision] - ORDER[other.decision],
    );
    return withExceptions(ordered.map(({ rank: _, ...entry }) => entry));
  },
};

type RankedEntry = ListEntry & { rank: number };

function rulesIn(file: ListFile): RankedEntry[] {
  const { rule = [], safety_checker: checkers = [], ...others } = tomlOf(file);
  if (!Array.isArray(rule)) throw new UnreadList(file.path, "rule is no list of tables");
  const entry = { file: file.path, decision: "ALLOW" as const, rank: 0 };
  return [
    ...Object.keys(others).map((text) => ({ ...entry, text, ...left() })),
    ...rule.map((one, at) => ruleEntry(blockOf(one, file, `rule ${at + 1}`), `rule ${at + 1}`, file)),
    ...[checkers].flat().map((one, at) => checkerEntry(one, `safety_checker ${at + 1}`, file)),
  ];
}

/** @throws {UnreadList} with the line of the mistake */
function tomlOf({ path, text }: ListFile): TomlTable {
  try {
    // An integer that no number holds is refused by its place alone, not for the whole file.
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // Its further lines show the place in the file.
    const [mistake = ""] = error.message.split("\n");
    throw new UnreadList(path, `line ${error.line}: ${mistake}`);
  }
}

/** A checker of Gemini CLI may refuse what a rule allows. */
function checkerEntry(value: unknown, name: string, file: ListFile): RankedEntry {
  const checker = blockOf(value, file, name);
  const tools = textsOf([checker["toolName"] ?? "*"].flat(), file, `${name}.toolName`);
  return {
    text: `${name}: ${tools.join(", ")}`,
    file: file.path,
    decision: "ESCALATE",
    rank: HIGHEST,
    parts: [{ fn: tools.map((tool) => toolName(tool, checker["mcpName"])) }],
    note: "wider: each call, since a rule does not run the checker",
  };
}

function ruleEntry(rule: SettingsBlock, name: string, file: ListFile): RankedEntry {
  const { mcpName = "" } = rule;
  const priority = Number.isFinite(rule["priority"]) ? Number(rule["priority"]) : null;
  const decision = rowOf(DECISIONS, rule["decision"]);
  const tools = textsOf([rule["toolName"] ?? []].flat(), file, `${name}.toolName`);
  if (!decision || priority === null || typeof mcpName !== "string" || (tools.length === 0 && !mcpName))
    throw new UnreadList(file.path, `${name} has no toolName, no decision or no priority that is known`);
  const prefixes = textsOf([rule["commandPrefix"] ?? []].flat(), file, `${name}.commandPrefix`);
  const shown = [mcpName, tools.join(", "), ...prefixes].filter((one) => one !== "");
  const fn = (tools.length > 0 ? tools : ["*"]).map((tool) => toolName(tool, rule["mcpName"]));
  const unseen = Object.keys(rule).filter((one) => !SEEN.has(one) && !isEmpty(rule[one]));
  const rank = priority + (file.path.startsWith("/etc/") ? ADMINISTRATOR : 0);
  const entry = { text: `${name}: ${shown.join(" ")}`, file: file.path, rank, decision };
  return { ...entry, ...carried(fn, prefixes, { decision, file, unseen }) };
}

const isEmpty = (value: unknown): boolean => value === "" || (Array.isArray(value) && value.length === 0);

function toolName(tool: string, server: unknown): string {
  if (typeof server !== "string") return SHELL_NAMES.has(tool) ? SHELL : tool;
  if (server === "*") return tool === "*" ? "mcp_*" : `mcp_*_${tool}`;
  return `mcp_${server}_${tool}`;
}

interface Rule {
  decision: PolicyEffect;
  file: ListFile;
  unseen?: readonly string[];
}

function carried(fn: readonly string[], prefixes: readonly string[], { decision, file, unseen = [] }: Rule): Carried {
  const isSeen = unseen.length === 0;
  const narrow = isSeen ? partsOf(fn, prefixes, "ALLOW") : left(`no prompt shows its ${unseen.join(", ")}`);
  const within = narrow.parts;
  if (decision === "ALLOW") return { ...narrow, parts: within.map((part) => ({ ...part, ...onlyIn(file) })), within };
  const wide = partsOf(fn, prefixes, decision);
  const notes = [...(isSeen ? [] : [`wider: whatever its ${unseen.join(", ")} says`]), wide.note];
  return { parts: wide.parts, note: noteOf(notes), within };
}

const noteOf = (notes: readonly (string | undefined)[]): string | undefined =>
  [...new Set(notes)].filter((note) => note !== undefined).join("; ") || undefined;

function partsOf(fn: readonly string[], prefixes: readonly string[], decision: PolicyEffect): Carried {
  const isAllow = decision === "ALLOW";
  if (prefixes.length > 0 && fn.every((name) => name === SHELL))
    return commandParts(fn, prefixes, { form: "prefix", decision });
  if (!isAllow) return { parts: [{ fn }] };
  if (prefixes.length > 0) return left("its tool has no command");
  const read = fn.map(allowedTool);
  return { parts: read.flatMap(({ parts }) => parts), note: noteOf(read.map(({ note }) => note)) };
}

/** Gemini CLI asks about changes of these, whatever its rules say. */
const BUILD_FILES =
  "BUILD* WORKSPACE* MODULE.bazel *akefile CMakeLists.txt package*.json *lock* setup.* *.toml go.* pom.xml *.gradle* Dockerfile* Containerfile* *.bzl *.bazel *.bzlmod *.mk *.cmake"
    .split(" ")
    .map((name) => `**/${name}`);

function allowedTool(name: string): Carried {
  if (name === SHELL) return left(ANY_COMMAND);
  // The name of another server may begin with that of this one.
  if (name.includes("*")) return left("it names no tool");
  if (!FILE_TOOLS.has(name)) return { parts: [{ fn: [name] }] };
  return filesOfFolder([name], CHANGES.has(name) ? { unless: { path: BUILD_FILES } } : {});
}

function settingsIn(file: ListFile): RankedEntry[] {
  const settings = blockOf(jsonAt(file.text, []), file, "it");
  const tools = blockOf(settings["tools"], file, "tools");
  const listed = (name: keyof typeof RANKS) => textsOf(tools[name], file, `tools.${name}`);
  const entriesOf = (name: keyof typeof RANKS, decision: PolicyEffect) =>
    listed(name).map((text): RankedEntry => {
      const [, tool = text, prefix] = /^([\w-]+)\((.*)\)$/s.exec(text) ?? [];
      const prefixes = prefix !== undefined && SHELL_NAMES.has(tool) ? [prefix] : [];
      const entry = { text, file: file.path, decision, rank: RANKS[name] };
      return { ...entry, ...carried([toolName(tool, undefined)], prefixes, { decision, file }) };
    });
  const others = (text: string, rank: number, fn: string): RankedEntry => {
    return { text, file: file.path, decision: "DENY", rank: rank - 0.01, parts: [{ fn: [fn] }] };
  };
  const isNarrowed = listed("allowed").some((text) => /^(?:run_shell_command|ShellTool)\(/.test(text));
  return [
    ...entriesOf("exclude", "DENY"),
    ...entriesOf("confirmationRequired", "ESCALATE"),
    ...entriesOf("allowed", "ALLOW"),
    ...(isNarrowed ? [others("tools.allowed, for other commands", RANKS.allowed, SHELL)] : []),
    ...entriesOf("core", "ALLOW"),
    ...(listed("core").length > 0 ? [others("tools.core, for other tools", RANKS.core, "*")] : []),
    ...serversIn(settings, file),
  ];
}

/** Servers are on and off as a whole. */
function serversIn(settings: SettingsBlock, file: ListFile): RankedEntry[] {
  const mcp = blockOf(settings["mcp"], file, "mcp");
  return ["allowed", "excluded"].flatMap((name) =>
    textsOf(mcp[name], file, `mcp.${name}`).map((server): RankedEntry => {
      const entry = { text: `mcp.${name}: ${server}`, file: file.path, rank: 900 };
      return name === "excluded"
        ? { ...entry, decision: "DENY", parts: [{ fn: [`mcp_${server}_*`] }] }
        : { ...entry, decision: "ALLOW", ...left("it says which servers start") };
    }),
  );
}
