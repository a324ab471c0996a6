import { basename, join } from "node:path";
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
import { commandParts } from "./command-patterns.ts";
import { filesOfFolder, namesIn, onlyIn, wideParts } from "./path-patterns.ts";

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
  const settings = blockOf(jsonAt(file.text, []), file, "it");
  const urls = (["allowedUrls", "deniedUrls"] as const).flatMap((name) =>
    textsOf(settings[name], file, name).map((url) => urlEntry(url, name === "deniedUrls" ? "DENY" : "ALLOW", file)),
  );
  const places = Object.entries(blockOf(settings["locations"], file, "locations"));
  return [...urls, ...places.flatMap(([folder, saved]) => approvalsIn(folder, blockOf(saved, file, folder), file))];
}

/** They hold in their folder alone. */
function approvalsIn(project: string, saved: SettingsBlock, file: ListFile): ListEntry[] {
  const approvals: unknown = saved["tool_approvals"] ?? [];
  if (!Array.isArray(approvals)) throw new UnreadList(file.path, `${project}.tool_approvals is no list`);
  const here = { ...file, project };
  const allowed = (text: string, carried: Carried): ListEntry => ({
    text,
    file: file.path,
    decision: "ALLOW",
    ...carried,
  });
  const folders = textsOf(saved["allowed_directories"], file, "allowed_directories");
  return [
    ...approvals.flatMap((one: unknown): ListEntry[] => {
      const approval = blockOf(one, file, "an approval");
      const { kind } = approval;
      if (kind === "commands")
        return textsOf(approval["commandIdentifiers"], file, "commandIdentifiers").map((command) =>
          allowed(`commands: ${command}`, shellEntry(command, "ALLOW", here)),
        );
      const untried = rowOf(UNTRIED, kind) ?? "a prompt does not show it so that a rule could compare it";
      return [allowed(JSON.stringify(one), kind === "write" ? filesOfFolder(WRITES, onlyIn(here)) : left(untried))];
    }),
    ...folders.map((folder) => allowed(`allowed_directories: ${folder}`, left("it is outside of the folder"))),
  ];
}

const UNTRIED = {
  read: "Copilot CLI asks no hook about reading",
  mcp: "no prompt about a tool of a server was tried, so its name there is not certain",
} as const;

/** A comment, the end of a command, or a word with its quotes, as a shell reads them. */
const WORD = /(?<!\S)#.*|\\\r?\n|[\n;&|]|(?:[^\s'";&|\\]|\\.|'[^']*'|"(?:[^"\\]|\\[^])*")+/g;
const QUOTED = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\(.)/g;
const FLAG = /^--(allow|deny)-(tool|url)s?(?:=(.*))?$/s;
const OTHER = /^--(?:allow-all(?:-\w+)?|yolo|(?:available|excluded)-tools|add-dir)(?=$|=)/;

function flagsIn(file: ListFile): ListEntry[] {
  const flags = flagsOf(file.text);
  if (flags.length === 0) throw new UnreadList(file.path, "it is no .json file and has no --allow-tool or --deny-tool");
  return flags
    .toSorted((one, other) => Number(one.verb === null) - Number(other.verb === null))
    .flatMap(({ verb, isUrl, given }): ListEntry[] => {
      const decision = verb === "deny" ? "DENY" : "ALLOW";
      if (verb !== null && isUrl) return [urlEntry(given, decision, file)];
      if (verb !== null)
        return toolsIn(given).map((text) => ({ text, file: file.path, decision, ...toolEntry(text, decision, file) }));
      const note = /all|yolo/.test(given) ? "it allows anything" : "a rule cannot say it: it is about all tools";
      return [{ text: given, file: file.path, decision, ...left(note) }];
    });
}

/** One of the flags about tools with one of its values, or another one, which has no verb. */
interface Flag {
  verb: "allow" | "deny" | null;
  isUrl: boolean;
  given: string;
}

/** A flag takes the words up to the next flag; an alias holds flags within its quotes. */
function flagsOf(text: string): Flag[] {
  const flags: Flag[] = [];
  let open: Omit<Flag, "given"> | null = null;
  for (const [word] of text.matchAll(WORD)) {
    if (/^(?:#|\\\r?\n)/.test(word)) continue;
    const plain = word.replaceAll(
      QUOTED,
      (_, single?: string, double?: string, escaped?: string) =>
        single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? "",
    );
    const [, verb, kind, given] = FLAG.exec(plain) ?? [];
    const [other] = OTHER.exec(plain) ?? [];
    if (verb === "allow" || verb === "deny") {
      open = given === undefined ? { verb, isUrl: kind === "url" } : null;
      if (given !== undefined) flags.push({ verb, isUrl: kind === "url", given });
    } else if (other !== undefined) flags.push({ verb: null, isUrl: false, given: other });
    else if (open && !/^[-\n;&|]/.test(plain)) flags.push({ ...open, given: plain });
    else if (plain !== word && /\s--\w/.test(plain)) flags.push(...flagsOf(plain));
    if (verb === undefined && /^[-\n;&|]/.test(plain)) open = null;
  }
  return flags;
}

/** One flag may name several, with commas outside of brackets between them. */
const toolsIn = (given: string): string[] => given.match(/[^,(]+(?:\([^()]*\))?/g)?.map((one) => one.trim()) ?? [given];

function toolEntry(text: string, decision: PolicyEffect, file: ListFile): Carried {
  const isAllow = decision === "ALLOW";
  const [, kind = text, content] = /^([^()]+)\((.*)\)$/s.exec(text) ?? [];
  if (kind === "shell") return shellEntry(content ?? "*", decision, file);
  if (kind === "url") return urlEntry(content ?? "*", decision, file);
  if (kind !== "write") return left(kind === "read" ? UNTRIED.read : UNTRIED.mcp);
  if (content === undefined) return isAllow ? filesOfFolder(WRITES) : { parts: [{ fn: WRITES }] };
  if (isAllow) return left("it is about the end of a path in any folder");
  return wideParts(WRITES, { names: namesIn(content), from: content.startsWith("/") ? "/" : "any", coversBelow: true });
}

/** Copilot knows a command by its program; one of git by two words, and one of gh by three. */
const WORDS: Readonly<Record<string, number>> = { git: 2, gh: 3 };

/** Copilot CLI asks about the addresses in a command besides. */
const NO_ADDRESS = { expr: 'args.command.contains("://")' };
const REACHES = /^(?:curl|wget|http|https|xh|aria2c)(?::\*)?$/;

function shellEntry(content: string, decision: PolicyEffect, file: ListFile): Carried {
  const isAllow = decision === "ALLOW";
  const [, prefix] = /^(.+):\*$/s.exec(content) ?? [];
  const words = content.split(/\s+/);
  const isName = words.length === (rowOf(WORDS, words[0]) ?? 1) || !isAllow;
  const form = content === "*" ? "glob" : prefix !== undefined || isName ? "prefix" : "whole";
  const more = { ...onlyIn(file), unless: NO_ADDRESS };
  const { parts, note } = commandParts(SHELL, [prefix ?? content], { form, decision, more });
  if (!isAllow || parts.length === 0) return { parts, note };
  if (REACHES.test(words[0] ?? "")) return left("Copilot CLI asks about its addresses besides");
  return { parts, note: form === "whole" ? "narrower: without further words" : note };
}

/** A command that reaches an address is asked about as a command. */
function urlEntry(text: string, decision: PolicyEffect, { path: file }: ListFile): ListEntry {
  const note = "it is also about the addresses in commands, which a rule does not read";
  const wide = { parts: [{ fn: ["web_fetch"] }], note: `wider: every address of web_fetch; ${note}` };
  return { text, file, decision, ...(decision === "ALLOW" ? left(note) : wide) };
}
