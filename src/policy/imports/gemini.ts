import { basename, dirname, join } from "node:path";
import { jsonAt } from "../../lib/json/json-edit.ts";
import { readToml } from "../../lib/toml.ts";
import type { PolicyEffect } from "../model/policy.ts";
import {
  type AgentLists,
  blockOf,
  type ListEntry,
  type ListFile,
  type RulePart,
  textsOf,
  UnreadList,
} from "./agent-list.ts";
import { commandPatterns } from "./command-patterns.ts";
import { withExceptions } from "./exceptions.ts";
import { onlyIn } from "./path-patterns.ts";

const DECISIONS: Readonly<Record<string, PolicyEffect>> = { allow: "ALLOW", ask_user: "ESCALATE", deny: "DENY" };
const SHELL = "run_shell_command";
const SHELL_NAMES = new Set([SHELL, "ShellTool"]);
const FILE_TOOLS = new Set([
  "read_file",
  "write_file",
  "replace",
  "list_directory",
  "glob",
  "grep_search",
  "search_file_content",
]);
const CHANGES = new Set(["write_file", "replace"]);
/** Conditions that no prompt shows. */
const UNSEEN = ["argsPattern", "commandRegex", "subagent", "modes", "interactive", "toolAnnotations"];
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
  const { rule = [], safety_checker: checkers = [], ...others } = readToml(file.text);
  if (!Array.isArray(rule)) throw new UnreadList(file.path, "rule is no list of tables");
  const left = Object.keys(others).map((text): RankedEntry => ({
    text,
    file: file.path,
    decision: "ALLOW",
    rank: 0,
    parts: [],
  }));
  return [
    ...left,
    ...rule.map((one, at) => ruleEntry(blockOf(one, file, `rule ${at + 1}`) ?? {}, at, file)),
    ...[checkers].flat().map((one, at) => checkerEntry(blockOf(one, file, `safety_checker ${at + 1}`) ?? {}, at, file)),
  ];
}

/** A checker of Gemini CLI may refuse what a rule allows. */
function checkerEntry(checker: Readonly<Record<string, unknown>>, at: number, file: ListFile): RankedEntry {
  const name = `safety_checker ${at + 1}`;
  const tools = textsOf([checker["toolName"] ?? "*"].flat(), file, `${name}.toolName`);
  const fn = tools.map((tool) => toolName(tool, checker["mcpName"]));
  const note = "wider: each call, since a rule does not run the checker";
  return {
    text: `${name}: ${tools.join(", ")}`,
    file: file.path,
    decision: "ESCALATE",
    rank: HIGHEST,
    parts: [{ fn }],
    note,
  };
}

function ruleEntry(rule: Readonly<Record<string, unknown>>, at: number, file: ListFile): RankedEntry {
  const name = `rule ${at + 1}`;
  const decision = DECISIONS[String(rule["decision"])];
  const { priority, mcpName } = rule;
  const tools = textsOf([rule["toolName"] ?? []].flat(), file, `${name}.toolName`);
  if (decision === undefined || typeof priority !== "number" || (tools.length === 0 && mcpName === undefined))
    throw new UnreadList(file.path, `${name} has no toolName, no decision or no priority that is known`);
  const prefixes = textsOf([rule["commandPrefix"] ?? []].flat(), file, `${name}.commandPrefix`);
  const shown = [...(typeof mcpName === "string" ? [mcpName] : []), tools.join(", "), ...prefixes].filter(
    (one) => one !== "",
  );
  const fn = tools.length > 0 ? tools.map((tool) => toolName(tool, mcpName)) : [toolName("*", mcpName)];
  const unseen = UNSEEN.filter((one) => rule[one] !== undefined && String(rule[one]) !== "");
  const rank = priority + (file.path.startsWith("/etc/") ? ADMINISTRATOR : 0);
  const entry = { text: `${name}: ${shown.join(" ")}`, file: file.path, rank };
  return { ...entry, decision, ...carried(fn, prefixes, { decision, file, unseen }) };
}

function toolName(tool: string, server: unknown): string {
  if (typeof server !== "string") return SHELL_NAMES.has(tool) ? SHELL : tool;
  if (server === "*") return tool === "*" ? "mcp_*" : `mcp_*_${tool}`;
  return `mcp_${server}_${tool}`;
}

interface Rule {
  decision: PolicyEffect;
  file: ListFile;
  unseen: readonly string[];
}

function carried(
  fn: readonly string[],
  prefixes: readonly string[],
  { decision, file, unseen }: Rule,
): Pick<ListEntry, "parts" | "note" | "within"> {
  const isAllow = decision === "ALLOW";
  const narrow =
    unseen.length > 0
      ? { parts: [], notes: [`no prompt shows its ${unseen.join(", ")}`] }
      : partsOf(fn, prefixes, "ALLOW");
  const pinned = narrow.parts.map((part) => ({ ...part, ...onlyIn(file) }));
  const within = narrow.parts;
  if (isAllow) return { parts: pinned, note: noteOf(narrow.notes), within };
  const wide = partsOf(fn, prefixes, decision);
  const notes = [...(unseen.length > 0 ? [`wider: whatever its ${unseen.join(", ")} says`] : []), ...wide.notes];
  return { parts: wide.parts, note: noteOf(notes), within };
}

const noteOf = (notes: readonly string[]): string | undefined =>
  notes.length > 0 ? [...new Set(notes)].join("; ") : undefined;

function partsOf(
  fn: readonly string[],
  prefixes: readonly string[],
  decision: PolicyEffect,
): { parts: RulePart[]; notes: string[] } {
  if (prefixes.length > 0) {
    if (fn.some((name) => name !== SHELL))
      return decision === "ALLOW" ? { parts: [], notes: ["its tool has no command"] } : { parts: [{ fn }], notes: [] };
    const read = prefixes.map((prefix) => commandPatterns(prefix, "prefix", decision));
    const notes = read.flatMap(({ note }) => note ?? []);
    const command = read.flatMap(({ patterns }) => (Array.isArray(patterns) ? (patterns as string[]) : []));
    if (read.some(({ patterns }) => patterns === "any")) return { parts: [{ fn }], notes };
    return { parts: command.length > 0 ? [{ fn, command }] : [], notes };
  }
  if (decision !== "ALLOW") return { parts: [{ fn }], notes: [] };
  const read = fn.map((name) => allowedTool(name));
  return { parts: read.flatMap(({ parts }) => parts), notes: read.flatMap(({ notes }) => notes) };
}

/** Gemini CLI asks about changes of these, whatever its rules say. */
const BUILD_FILES =
  "BUILD* WORKSPACE* MODULE.bazel *akefile CMakeLists.txt package*.json *lock* setup.* *.toml go.* pom.xml *.gradle* Dockerfile* Containerfile* *.bzl *.bazel *.bzlmod *.mk *.cmake"
    .split(" ")
    .map((name) => `**/${name}`);

function allowedTool(name: string): { parts: RulePart[]; notes: string[] } {
  if (name === SHELL) return { parts: [], notes: ["it allows any command: write such a rule yourself"] };
  // The name of another server may begin with that of this one.
  if (name.includes("*")) return { parts: [], notes: ["it names no tool"] };
  if (!FILE_TOOLS.has(name)) return { parts: [{ fn: [name] }], notes: [] };
  const unless = CHANGES.has(name) ? { unless: { path: BUILD_FILES } } : {};
  return { parts: [{ fn: [name], path: ["**"], ...unless }], notes: ["narrower: files of the folder alone"] };
}

function settingsIn(file: ListFile): RankedEntry[] {
  const settings = blockOf(jsonAt(file.text, []), file, "it") ?? {};
  const tools = blockOf(settings["tools"], file, "tools") ?? {};
  const listed = (name: keyof typeof RANKS) => textsOf(tools[name], file, `tools.${name}`);
  const entry = (text: string, rank: number, decision: PolicyEffect): RankedEntry => {
    const [, tool = text, prefix] = /^([\w-]+)\((.*)\)$/s.exec(text) ?? [];
    const isPrefix = prefix !== undefined && SHELL_NAMES.has(tool);
    return {
      text,
      file: file.path,
      decision,
      rank,
      ...carried([toolName(tool, undefined)], isPrefix ? [prefix] : [], { decision, file, unseen: [] }),
    };
  };
  const deny = (text: string, rank: number, fn: string): RankedEntry => ({
    text,
    file: file.path,
    decision: "DENY",
    rank,
    parts: [{ fn: [fn] }],
  });
  const [allowed, core] = [listed("allowed"), listed("core")];
  const isNarrowed = allowed.some((text) => /^(?:run_shell_command|ShellTool)\(/.test(text));
  return [
    ...listed("exclude").map((text) => entry(text, RANKS.exclude, "DENY")),
    ...listed("confirmationRequired").map((text) => entry(text, RANKS.confirmationRequired, "ESCALATE")),
    ...allowed.map((text) => entry(text, RANKS.allowed, "ALLOW")),
    ...(isNarrowed ? [deny("tools.allowed, for other commands", RANKS.allowed - 0.01, SHELL)] : []),
    ...core.map((text) => entry(text, RANKS.core, "ALLOW")),
    ...(core.length > 0 ? [deny("tools.core, for other tools", RANKS.core - 0.01, "*")] : []),
    ...serversIn(settings, file),
  ];
}

/** Servers are on and off as a whole. */
function serversIn(settings: Readonly<Record<string, unknown>>, file: ListFile): RankedEntry[] {
  const mcp = blockOf(settings["mcp"], file, "mcp") ?? {};
  return ["allowed", "excluded"].flatMap((name) =>
    textsOf(mcp[name], file, `mcp.${name}`).map((server): RankedEntry => {
      const parts = name === "excluded" ? [{ fn: [`mcp_${server}_*`] }] : [];
      const note = name === "excluded" ? undefined : "it says which servers start";
      const decision = name === "excluded" ? "DENY" : "ALLOW";
      return { text: `mcp.${name}: ${server}`, file: file.path, decision, rank: 900, parts, note };
    }),
  );
}
