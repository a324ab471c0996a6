import { basename, dirname, join } from "node:path";
import { readPlainJson } from "../../lib/json/json-edit.ts";
import type { PolicyEffect } from "../model/policy.ts";
import { type AgentLists, blockOf, type ListEntry, type ListFile, textsOf } from "./agent-list.ts";
import { commandPatterns } from "./command-patterns.ts";
import { type FilePattern, narrowPaths, onlyIn, wideParts } from "./path-patterns.ts";

const LISTS: Readonly<Record<string, PolicyEffect>> = { deny: "DENY", ask: "ESCALATE", allow: "ALLOW" };
/** The tools that a rule about the files of one of them is about. */
const FILE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Read: ["Read", "Glob", "Grep"],
  Edit: ["Edit", "Write", "MultiEdit", "NotebookEdit"],
};
const WITH_FILES = new Set(["Read", "Glob", "Grep", "Edit", "Write", "MultiEdit", "NotebookEdit", "NotebookRead"]);
const NEVER_MATCHED = new Set(["Write", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob"]);
/** With it only the files of an administrator have rules. */
const MANAGED_ONLY = "allowManagedPermissionRulesOnly";
const MANAGED = "managed-settings.json";

/** Claude Code 2.1.332: `permissions` of its settings. */
export const claudeLists: AgentLists = {
  places: ({ home, project, env }) => [
    join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "settings.json"),
    join(project, ".claude", "settings.json"),
    join(project, ".claude", "settings.local.json"),
    join("/etc/claude-code", MANAGED),
  ],
  projectOf: (path, home) => {
    const folder = dirname(dirname(path));
    return basename(dirname(path)) === ".claude" && folder !== home ? folder : null;
  },
  read(files, home) {
    const settings = files.map((file) => ({ file, block: blockOf(readPlainJson(file.text), file, "it") ?? {} }));
    const isManaged = settings.some(({ block }) => block[MANAGED_ONLY] === true);
    return settings.flatMap(({ file, block }) => {
      const permissions = blockOf(block["permissions"], file, "permissions") ?? {};
      const entries = Object.entries(LISTS).flatMap(([name, decision]) =>
        textsOf(permissions[name], file, `permissions.${name}`).map((text): ListEntry => {
          const isOff = isManaged && decision === "ALLOW" && basename(file.path) !== MANAGED;
          const of = isOff
            ? { parts: [], note: `${MANAGED_ONLY} turns it off` }
            : entryOf(text, decision, { file, home });
          return { text, file: file.path, decision, ...of };
        }),
      );
      const others = Object.keys(permissions).filter((name) => !(name in LISTS));
      return [...entries, ...others.map((name) => otherSetting(`permissions.${name}`, file))];
    });
  },
};

const otherSetting = (text: string, { path }: ListFile): ListEntry => ({
  text,
  file: path,
  decision: "ALLOW",
  parts: [],
  note: "it is no list of rules",
});

interface Place {
  file: ListFile;
  home: string;
}

type Carried = Pick<ListEntry, "parts" | "note">;
const left = (note: string): Carried => ({ parts: [], note });

function entryOf(text: string, decision: PolicyEffect, place: Place): Carried {
  const [, tool = "", content] = /^([^()]+)(?:\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (tool === "")
    return decision === "ALLOW" ? left("it has no form that is known") : left("Claude Code refuses its form");
  if (tool.startsWith("mcp__")) return serverTool(tool, content, decision, place);
  if (content === undefined || content === "" || content === "*") return wholeTool(tool, decision, place);
  if (tool === "Bash") return shellEntry(content, decision, place);
  if (NEVER_MATCHED.has(tool)) return left(`Claude Code never matches it; Edit(…) and Read(…) are about all tools`);
  const tools = FILE_TOOLS[tool];
  if (tools) return fileEntry(tools, content, decision, place);
  if (tool === "WebFetch") return domainEntry(content, decision, place);
  const note = "a rule cannot compare the text in its brackets";
  return decision === "ALLOW"
    ? left(note)
    : { parts: [{ fn: [tool] }], note: `wider: every call of ${tool}, since ${note}` };
}

/** The name of a tool, or of a server, whose tools all begin with it. */
function serverTool(tool: string, content: string | undefined, decision: PolicyEffect, { file }: Place): Carried {
  const [server = "", ...name] = tool.slice("mcp__".length).split("__");
  if (decision === "ALLOW") {
    if (content !== undefined) return left("Claude Code refuses its form");
    if (server.includes("*") || server === "") return left("it names no server, so Claude Code passes over it");
    return { parts: [{ fn: [name.length > 0 ? tool : `${tool}__*`], ...onlyIn(file) }] };
  }
  const isWhole = name.length === 0 && !tool.endsWith("*");
  return { parts: [{ fn: isWhole ? [tool, `${tool}__*`] : [tool] }] };
}

function wholeTool(tool: string, decision: PolicyEffect, { file }: Place): Carried {
  if (decision !== "ALLOW")
    return { parts: [{ fn: tool === "Agent" || tool === "Task" ? ["Agent", "Task"] : [tool] }] };
  if (tool.includes("*")) return left("it names no tool, so Claude Code passes over it");
  if (tool === "Bash" || tool === "PowerShell") return left("it allows any command: write such a rule yourself");
  if (!WITH_FILES.has(tool)) return { parts: [{ fn: [tool], ...onlyIn(file) }] };
  return {
    parts: [{ fn: [tool], path: ["**"], ...onlyIn(file) }],
    note: "narrower: files of the folder alone",
  };
}

function shellEntry(content: string, decision: PolicyEffect, { file }: Place): Carried {
  const [, prefix] = /^(.+):\*$/s.exec(content) ?? [];
  const form = prefix !== undefined ? "prefix" : /(?<!\\)\*/.test(content) ? "glob" : "whole";
  const { patterns, note } = commandPatterns(prefix ?? content, form, decision);
  if (patterns === null) return { parts: [], note };
  if (patterns === "any") return { parts: [{ fn: ["Bash"] }], note };
  return { parts: [{ fn: ["Bash"], command: patterns, ...(decision === "ALLOW" && onlyIn(file)) }], note };
}

/** Such a pattern is one of a `.gitignore`; by its beginning it belongs to a folder. */
function fileEntry(fn: readonly string[], content: string, decision: PolicyEffect, place: Place): Carried {
  if (content.startsWith("!")) return left("it takes back another entry");
  const isAllow = decision === "ALLOW";
  const pattern = filePattern(content, isAllow, place);
  if (!isAllow) return { parts: wideParts(fn, pattern), note: "wider: also files outside of the folder of the call" };
  const path = narrowPaths(pattern, place.file.project);
  return typeof path === "string" ? left(path) : { parts: [{ fn, path, ...onlyIn(place.file) }] };
}

function filePattern(content: string, isAllow: boolean, { file, home }: Place): FilePattern {
  const settings = file.project ?? dirname(file.path);
  const absolute = content.startsWith("//")
    ? content.slice(1)
    : content.startsWith("~/")
      ? `${home}${content.slice(1)}`
      : content.startsWith("/")
        ? `${settings}${content}`
        : null;
  const names = (absolute ?? content.replace(/^\.\//, "")).split("/").filter((name) => name !== "");
  if (absolute !== null) return { names, from: "/", coversBelow: true };
  // Claude Code takes the end off a `src/**` that denies, which then may stand in any folder.
  const kept = names.at(-1) === "**" && !isAllow ? names.slice(0, -1) : names;
  const isAny = kept.length <= 1 || kept[0] === "**";
  return {
    names: kept.length === 0 ? ["**"] : kept,
    from: isAny && !(isAllow && content.startsWith("./")) ? "any" : null,
    coversBelow: true,
  };
}

const HOST = /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

function domainEntry(content: string, decision: PolicyEffect, { file }: Place): Carried {
  const fn = ["WebFetch"];
  const host = content.replace(/^domain:/, "").toLowerCase();
  const isHost = content.startsWith("domain:") && HOST.test(host);
  if (decision === "ALLOW") {
    if (content === "domain:*") return { parts: [{ fn, ...onlyIn(file) }] };
    if (!isHost) return left("its domain has a form that a rule cannot compare");
    const url = { glob: [`https://${host}`, `https://${host}/*`] };
    return { parts: [{ fn, args: { ...onlyIn(file).args, "/url": url } }], note: "narrower: https without a port" };
  }
  if (content === "domain:*") return { parts: [{ fn }] };
  if (!isHost) return { parts: [{ fn }], note: "wider: every address, since its domain cannot be compared" };
  return { parts: [{ fn, expr: deniedHost(host) }], note: "wider: hosts below it, and addresses of unusual form" };
}

/** An address that is not plain may be one of the host for a program. */
function deniedHost(host: string): string {
  const name = host.replace(/^\*\./, "").replaceAll(".", "[.]");
  const plain = "^https?://[A-Za-z0-9.-]+(:[0-9]+)?([/?#][!-~]*)?$";
  return `!args.url.matches("${plain}") || args.url.matches("(?i)^https?://([a-z0-9-]+[.])*${name}[.]?([:/?#]|$)")`;
}
