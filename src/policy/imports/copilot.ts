import { basename, join } from "node:path";
import { jsonAt } from "../../lib/json/json-edit.ts";
import type { PolicyEffect } from "../model/policy.ts";
import { type AgentLists, blockOf, type ListEntry, type ListFile, textsOf, UnreadList } from "./agent-list.ts";
import { commandPatterns } from "./command-patterns.ts";
import { onlyIn, wideParts } from "./path-patterns.ts";

const SHELL = ["bash"];
const WRITES = ["create", "edit", "apply_patch", "str_replace_editor"];

/**
 * Copilot CLI 1.0.102: what its user has approved for a folder, in `permissions-config.json`; the addresses of its
 * settings; and the flags of a script or an alias that starts it, such as `--allow-tool 'shell(git:*)'`.
 */
export const copilotLists: AgentLists = {
  places: ({ home, project, env }) => {
    const own = env["COPILOT_HOME"] || join(home, ".copilot");
    return [
      ...["permissions-config.json", "settings.json", "config.json"].map((name) => join(own, name)),
      ...["settings.json", "settings.local.json"].map((name) => join(project, ".github", "copilot", name)),
    ];
  },
  projectOf: () => null,
  read: (files) => files.flatMap((file) => (basename(file.path).endsWith(".json") ? settingsIn(file) : flagsIn(file))),
};

function settingsIn(file: ListFile): ListEntry[] {
  const settings = blockOf(jsonAt(file.text, []), file, "it") ?? {};
  const urls = (["allowedUrls", "deniedUrls"] as const).flatMap((name) =>
    textsOf(settings[name], file, name).map((url) => urlEntry(url, name === "deniedUrls" ? "DENY" : "ALLOW", file)),
  );
  const places = Object.entries(blockOf(settings["locations"], file, "locations") ?? {});
  return [
    ...urls,
    ...places.flatMap(([folder, saved]) => approvalsIn(folder, blockOf(saved, file, folder) ?? {}, file)),
  ];
}

/** They hold in their folder alone. */
function approvalsIn(project: string, saved: Readonly<Record<string, unknown>>, file: ListFile): ListEntry[] {
  const here = { ...file, project };
  const approvals: unknown = saved["tool_approvals"] ?? [];
  if (!Array.isArray(approvals)) throw new UnreadList(file.path, `${project}.tool_approvals is no list`);
  const directories = textsOf(saved["allowed_directories"], file, "allowed_directories");
  return [
    ...approvals.flatMap((one: unknown): ListEntry[] => {
      const approval = blockOf(one, file, "an approval") ?? {};
      if (approval["kind"] === "commands")
        return textsOf(approval["commandIdentifiers"], file, "commandIdentifiers").map((command) =>
          shellEntry(`commands: ${command}`, command, "ALLOW", here),
        );
      const entry = { text: JSON.stringify(one), file: file.path, decision: "ALLOW" as const };
      if (approval["kind"] === "write") return [{ ...entry, ...writeAll(here) }];
      return [
        {
          ...entry,
          parts: [],
          note: UNTRIED[String(approval["kind"])] ?? "a prompt does not show it so that a rule could compare it",
        },
      ];
    }),
    ...directories.map((folder): ListEntry => ({
      text: `allowed_directories: ${folder}`,
      file: file.path,
      decision: "ALLOW",
      parts: [],
      note: "it is outside of the folder",
    })),
  ];
}

const UNTRIED: Readonly<Record<string, string>> = {
  read: "Copilot CLI asks no hook about reading",
  mcp: "no prompt about a tool of a server was tried, so its name there is not certain",
};

const writeAll = (file: ListFile): Pick<ListEntry, "parts" | "note"> => ({
  parts: [{ fn: WRITES, path: ["**"], ...onlyIn(file) }],
  note: "narrower: files of the folder alone",
});

const FLAG = /--(allow|deny)-(tool|url)s?(?:=|\s+)(?:'([^']*)'|"([^"]*)"|([^\s'"]+))/g;
const ALL = /--(?:allow-all(?:-\w+)?|yolo)\b/g;

function flagsIn(file: ListFile): ListEntry[] {
  const entries = [...file.text.matchAll(FLAG)].flatMap(([, verb, kind, ...texts]) => {
    const decision = verb === "deny" ? "DENY" : "ALLOW";
    const given = texts.find((one) => one !== undefined) ?? "";
    return kind === "url"
      ? [urlEntry(given, decision, file)]
      : toolsIn(given).map((tool) => toolEntry(tool, decision, file));
  });
  const all = [...file.text.matchAll(ALL)].map(([text]): ListEntry => ({
    text,
    file: file.path,
    decision: "ALLOW",
    parts: [],
    note: "it allows anything",
  }));
  if (entries.length + all.length === 0)
    throw new UnreadList(file.path, "it is no .json file and has no --allow-tool or --deny-tool");
  return [...entries, ...all];
}

/** One flag may name several, with commas outside of brackets between them. */
const toolsIn = (given: string): string[] => given.match(/[^,(]+(?:\([^()]*\))?/g)?.map((one) => one.trim()) ?? [given];

function toolEntry(text: string, decision: PolicyEffect, file: ListFile): ListEntry {
  const [, kind = text, content] = /^([^()]+)\((.*)\)$/s.exec(text) ?? [];
  const entry = { text, file: file.path, decision };
  if (kind === "shell") return shellEntry(text, content ?? "*", decision, file);
  if (kind === "url") return urlEntry(content ?? "*", decision, file);
  if (kind === "read") return { ...entry, parts: [], note: UNTRIED["read"] };
  if (kind !== "write") return { ...entry, parts: [], note: UNTRIED["mcp"] };
  if (content === undefined)
    return { ...entry, ...(decision === "ALLOW" ? writeAll(file) : { parts: [{ fn: WRITES }] }) };
  if (decision === "ALLOW") return { ...entry, parts: [], note: "it is about the end of a path in any folder" };
  const from = content.startsWith("/") ? "/" : "any";
  const names = content.split("/").filter((name) => name !== "");
  return {
    ...entry,
    parts: wideParts(WRITES, { names, from, coversBelow: true }),
    note: "wider: also files outside of the folder of the call",
  };
}

/** Copilot knows a command by its program; one of git by two words, and one of gh by three. */
const WORDS: Readonly<Record<string, number>> = { git: 2, gh: 3 };

/** Copilot CLI asks about the addresses in a command besides. */
const NO_ADDRESS = { expr: 'args.command.contains("://")' };
const REACHES = /^(?:curl|wget|http|https|xh|aria2c)(?::\*)?$/;

function shellEntry(text: string, content: string, decision: PolicyEffect, file: ListFile): ListEntry {
  const entry = { text, file: file.path, decision };
  const [, prefix] = /^(.+):\*$/s.exec(content) ?? [];
  const words = content.split(/\s+/);
  const isName = words.length === (WORDS[words[0] ?? ""] ?? 1) || decision !== "ALLOW";
  const form = content === "*" ? "glob" : prefix !== undefined || isName ? "prefix" : "whole";
  const { patterns, note } = commandPatterns(prefix ?? content, form, decision);
  if (patterns === null) return { ...entry, parts: [], note };
  if (patterns === "any") return { ...entry, parts: [{ fn: SHELL }], note };
  if (decision !== "ALLOW") return { ...entry, parts: [{ fn: SHELL, command: patterns }], note };
  if (REACHES.test(words[0] ?? ""))
    return { ...entry, parts: [], note: "Copilot CLI asks about its addresses besides" };
  const narrower = form === "whole" ? "narrower: without further words" : note;
  return { ...entry, parts: [{ fn: SHELL, command: patterns, ...onlyIn(file), unless: NO_ADDRESS }], note: narrower };
}

/** A command that reaches an address is asked about as a command. */
function urlEntry(url: string, decision: PolicyEffect, { path }: ListFile): ListEntry {
  const note = "it is also about the addresses in commands, which a rule does not read";
  if (decision === "ALLOW") return { text: url, file: path, decision, parts: [], note };
  return {
    text: url,
    file: path,
    decision,
    parts: [{ fn: ["web_fetch"] }],
    note: `wider: every address of web_fetch; ${note}`,
  };
}
