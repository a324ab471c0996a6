import { basename, dirname, join } from "node:path";
import { readPlainJson } from "../../lib/json/json-edit.ts";
import type { PolicyEffect } from "../model/policy.ts";
import { type AgentLists, blockOf, type ListEntry, type ListFile, textsOf } from "./agent-list.ts";
import { commandPatterns } from "./command-patterns.ts";
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
      const permissions =
        blockOf(blockOf(readPlainJson(file.text), file, "it")?.["permissions"], file, "permissions") ?? {};
      const others = Object.keys(permissions).filter((name) => !(name in LISTS));
      return [
        ...Object.entries(LISTS).flatMap(([name, decision]) =>
          textsOf(permissions[name], file, `permissions.${name}`).map((text) => entryOf(text, decision, file)),
        ),
        ...others.map((name): ListEntry => ({
          text: `permissions.${name}`,
          file: file.path,
          decision: "ALLOW",
          parts: [],
        })),
      ];
    }),
};

function entryOf(text: string, decision: PolicyEffect, file: ListFile): ListEntry {
  const entry = { text, file: file.path, decision };
  const left = (note: string): ListEntry => ({ ...entry, parts: [], note });
  const [, kind = "", content = ""] = /^(\w+)\((.*)\)$/s.exec(text.trim()) ?? [];
  if (/^(?:Read|Write|WebFetch)$/.test(kind))
    return left("Cursor's hooks ask about commands and tools of servers alone");
  if (kind === "Mcp") {
    if (decision === "ALLOW") return left("a prompt of Cursor names the server by its address or command");
    const tool = content.slice(content.indexOf(":") + 1);
    return {
      ...entry,
      parts: [{ fn: [/^\w[\w-]*$/.test(tool) ? `MCP:${tool}` : "MCP:*"] }],
      note: "wider: the tools of every server",
    };
  }
  if (kind !== "Shell") return left("it is of no known kind");
  const [base = "", rest] = content.split(/:(.*)/s);
  if (decision === "ALLOW" && ((rest ?? "*") !== "*" || /\s/.test(base)))
    return left("the words behind the program may cross into another command");
  const isAny = /^\*+$/.test(base);
  const program = decision === "ALLOW" ? base : (base.split(/\s/)[0] ?? "");
  const { patterns, note } = commandPatterns(isAny ? "*" : program, isAny ? "glob" : "prefix", decision);
  const wider =
    decision !== "ALLOW" && (program !== base || (rest ?? "*") !== "*") ? "wider: any words behind the program" : note;
  if (patterns === null) return { ...entry, parts: [], note };
  if (patterns === "any") return { ...entry, parts: [{ fn: ["Shell"] }], note };
  return {
    ...entry,
    parts: [{ fn: ["Shell"], command: patterns, ...(decision === "ALLOW" && onlyIn(file)) }],
    note: wider,
  };
}
