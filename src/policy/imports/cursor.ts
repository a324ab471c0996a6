import { basename, dirname, join } from "node:path";
import { readPlainJson } from "../../lib/json/json-edit.ts";
import type { PolicyEffect } from "../model/policy.ts";
import { type AgentLists, blockOf, type Carried, left, type ListFile, permissionsIn } from "./agent-list.ts";
import { commandParts } from "./command-patterns.ts";
import { onlyIn } from "./path-patterns.ts";

const LISTS: Readonly<Record<string, PolicyEffect>> = { deny: "DENY", allow: "ALLOW" };

/** Cursor's command line, as its documentation has it: `permissions` of its settings. */
export const cursorLists: AgentLists = {
  places: ({ home, project, env }) => [
    join(env["CURSOR_CONFIG_DIR"] || join(home, ".cursor"), "cli-config.json"),
    ...(env["XDG_CONFIG_HOME"] ? [join(env["XDG_CONFIG_HOME"], "cursor", "cli-config.json")] : []),
    join(project, ".cursor", "cli.json"),
  ],
  projectOf: (path) => (basename(path) === "cli.json" ? dirname(dirname(path)) : null),
  read: (files) =>
    files.flatMap((file) => {
      const permissions = blockOf(blockOf(readPlainJson(file.text), file, "it")["permissions"], file, "permissions");
      return permissionsIn(permissions, { file, lists: LISTS }, (text, decision) => carried(text, decision, file));
    }),
};

function carried(text: string, decision: PolicyEffect, file: ListFile): Carried {
  const isAllow = decision === "ALLOW";
  const [, kind = "", content = ""] = /^(\w+)\((.*)\)$/s.exec(text.trim()) ?? [];
  if (/^(?:Read|Write|WebFetch)$/.test(kind))
    return left("Cursor's hooks ask about commands and tools of servers alone");
  if (kind === "Mcp") {
    if (isAllow) return left("a prompt of Cursor names the server by its address or command");
    const tool = content.slice(content.indexOf(":") + 1);
    const fn = /^\w[\w-]*$/.test(tool) ? `MCP:${tool}` : "MCP:*";
    return { parts: [{ fn: [fn] }], note: "wider: the tools of every server" };
  }
  if (kind !== "Shell") return left("it is of no known kind");
  const [base = "", rest = "*"] = content.split(/:(.*)/s);
  if (isAllow && (rest !== "*" || /\s/.test(base)))
    return left("the words behind the program may cross into another command");
  const isAny = /^\*+$/.test(base);
  const program = isAllow ? base : (base.split(/\s/)[0] ?? "");
  const form = isAny ? "glob" : "prefix";
  const { parts, note } = commandParts(["Shell"], [isAny ? "*" : program], { form, decision, more: onlyIn(file) });
  const isCut = (program !== base || rest !== "*") && parts[0]?.command !== undefined;
  return { parts, note: isCut ? "wider: any words behind the program" : note };
}
