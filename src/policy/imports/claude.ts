import { basename, dirname, join } from "node:path";
import { readPlainJson } from "../../lib/json/json-edit.ts";
import type { PolicyEffect } from "../model/policy.ts";
import { type AgentLists, blockOf, type Carried, left, type ListFile, permissionsIn, rowOf } from "./agent-list.ts";
import { ANY_COMMAND, commandParts } from "./command-patterns.ts";
import { type FilePattern, filesOfFolder, namesIn, narrowParts, onlyIn, wideParts } from "./path-patterns.ts";

const LISTS: Readonly<Record<string, PolicyEffect>> = { deny: "DENY", ask: "ESCALATE", allow: "ALLOW" };
/** The tools that a rule about the files of one of them is about. */
const FILE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Read: ["Read", "Glob", "Grep"],
  Edit: ["Edit", "Write", "MultiEdit", "NotebookEdit"],
};
const WITH_FILES = new Set(["Read", "Glob", "Grep", "Edit", "Write", "MultiEdit", "NotebookEdit", "NotebookRead"]);
const REFUSED = "Claude Code refuses its form";
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
    const settings = files.map((file) => ({ file, block: blockOf(readPlainJson(file.text), file, "it") }));
    const isManaged = settings.some(({ block }) => block[MANAGED_ONLY] === true);
    return settings.flatMap(({ file, block }) => {
      const isOff = isManaged && basename(file.path) !== MANAGED;
      const permissions = blockOf(block["permissions"], file, "permissions");
      return permissionsIn(permissions, { file, lists: LISTS, note: "it is no list of rules" }, (text, decision) =>
        isOff && decision === "ALLOW" ? left(`${MANAGED_ONLY} turns it off`) : carried(text, decision, { file, home }),
      );
    });
  },
};

interface Place {
  file: ListFile;
  home: string;
}

function carried(text: string, decision: PolicyEffect, place: Place): Carried {
  const [, tool = "", content] = /^([^()]+)(?:\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (tool === "") return left(decision === "ALLOW" ? "it has no form that is known" : REFUSED);
  if (tool.startsWith("mcp__")) return serverTool(tool, content, decision, place);
  if (content === undefined || content === "" || content === "*") return wholeTool(tool, decision, place);
  if (tool === "Bash") return shellEntry(content, decision, place);
  if (NEVER_MATCHED.has(tool)) return left("Claude Code never matches it; Edit(…) and Read(…) are about all tools");
  const tools = rowOf(FILE_TOOLS, tool);
  if (tools) return fileEntry(tools, content, decision, place);
  if (tool === "WebFetch") return domainEntry(content, decision, place);
  const note = "a rule cannot compare the text in its brackets";
  if (decision === "ALLOW") return left(note);
  return { parts: [{ fn: [tool] }], note: `wider: every call of ${tool}, since ${note}` };
}

/** The name of a tool, or of a server, whose tools all begin with it. */
function serverTool(tool: string, content: string | undefined, decision: PolicyEffect, { file }: Place): Carried {
  const [server = "", ...name] = tool.slice("mcp__".length).split("__");
  if (decision === "ALLOW") {
    if (content !== undefined) return left(REFUSED);
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
  if (tool === "Bash" || tool === "PowerShell") return left(ANY_COMMAND);
  return WITH_FILES.has(tool) ? filesOfFolder([tool], onlyIn(file)) : { parts: [{ fn: [tool], ...onlyIn(file) }] };
}

function shellEntry(content: string, decision: PolicyEffect, { file }: Place): Carried {
  const [, prefix] = /^(.+):\*$/s.exec(content) ?? [];
  const form = prefix !== undefined ? "prefix" : /(?<!\\)\*/.test(content) ? "glob" : "whole";
  return commandParts(["Bash"], [prefix ?? content], { form, decision, more: onlyIn(file) });
}

/** Such a pattern is one of a `.gitignore`; by its beginning it belongs to a folder. */
function fileEntry(fn: readonly string[], content: string, decision: PolicyEffect, place: Place): Carried {
  if (content.startsWith("!")) return left("it takes back another entry");
  const isAllow = decision === "ALLOW";
  const pattern = filePattern(content, isAllow, place);
  return isAllow ? narrowParts(fn, pattern, place.file) : wideParts(fn, pattern);
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
  const names = namesIn(absolute ?? content.replace(/^\.\//, ""));
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
