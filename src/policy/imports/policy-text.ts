import type { PolicyEffect } from "../model/policy.ts";
import { comment, flow, text } from "../model/yaml-words.ts";
import type { ListEntry, RulePart } from "./agent-list.ts";

/** The words in the head of a printed policy. */
export interface PrintedLists {
  agent: { word: string; title: string };
  /** The names by which a server knows the agent. */
  askers: readonly string[];
  files: readonly string[];
}

/** One rule: what all of its parts have in common, and the patterns or functions of each entry. */
interface Group {
  decision: PolicyEffect;
  kind: "command" | "path" | "folder" | "fn";
  common: Omit<RulePart, "command" | "path" | "folder">;
  lines: { values: readonly string[]; entry: ListEntry }[];
}

const MOST_VALUES = 100;
/** The characters that a comment shows of an entry, which may be a script of many lines. */
const MOST_CHARS = 300;
const WORDS: Readonly<Record<PolicyEffect, string>> = { ALLOW: "allow", ESCALATE: "ask", DENY: "deny" };

/** Returns the text of a policy file with the rules of these entries, and a comment beside each. */
export function policyText(entries: readonly ListEntry[], { agent, askers, files }: PrintedLists): string {
  const groups = groupsOf(entries);
  const left = entries.filter(({ parts }) => parts.length === 0);
  const isSeveral = files.length > 1;
  return [
    `# The lists of ${agent.title}, as rules: parley policy import ${agent.word}`,
    ...files.map((file) => `# Read: ${comment(file)}`),
    "# An ALLOW covers at most what its entry does, a DENY and an ESCALATE at least that. A pattern with a * takes no",
    "# options of programs that are not known to read, no path out of the folder, and no name with a dot in front.",
    "# Quotes, 2>&1, > /dev/null and a cd into the same folder make no difference to a command.",
    "version: 1",
    groups.length === 0 ? "rules: []" : "rules:",
    ...groups.flatMap((group, at) =>
      ruleLines(group, { id: `${agent.word}-${WORDS[group.decision]}-${at + 1}`, askers, isSeveral }),
    ),
    ...(left.length > 0 ? ["", "# Not carried over:"] : []),
    ...left.map(
      ({ decision, note = "it is of no known kind", ...entry }) =>
        `#   ${WORDS[decision]} ${nameOf(entry, isSeveral)}: ${comment(note)}`,
    ),
    "",
  ].join("\n");
}

function groupsOf(entries: readonly ListEntry[]): Group[] {
  const groups: Group[] = [];
  const open = new Map<string, Group>();
  for (const decision of ["DENY", "ESCALATE", "ALLOW"] as const) {
    for (const entry of entries.filter((one) => one.decision === decision)) {
      for (const { command, path, folder, ...common } of entry.parts) {
        const kind = command ? "command" : path ? "path" : folder ? "folder" : "fn";
        const { fn, ...conditions } = common;
        const values = command ?? path ?? folder ?? fn;
        const key = JSON.stringify([decision, kind, conditions, kind === "fn" ? [] : fn]);
        const group = open.get(key);
        const size = group?.lines.reduce((sum, line) => sum + line.values.length, values.length) ?? 0;
        if (group && size <= MOST_VALUES) group.lines.push({ values, entry });
        else {
          const added = { decision, kind, common, lines: [{ values, entry }] } satisfies Group;
          open.set(key, added);
          groups.push(added);
        }
      }
    }
  }
  return groups;
}

interface RuleName {
  id: string;
  askers: readonly string[];
  isSeveral: boolean;
}

function ruleLines({ decision, kind, common, lines }: Group, { id, askers, isSeveral }: RuleName): string[] {
  const { fn, args, expr, unless } = common;
  const seen = new Set<string>();
  const listIn = (indent: string) =>
    lines.flatMap(({ values, entry }) => [
      `${indent}# ${nameOf(entry, isSeveral)}${entry.note === undefined ? "" : `: ${comment(entry.note)}`}`,
      ...values.flatMap((value) => (seen.size < seen.add(value).size ? [`${indent}- ${text(value)}`] : [])),
    ]);
  const list = {
    fn: () => [],
    command: () => ["      command:", ...listIn(" ".repeat(8))],
    path: () => ["      path:", ...listIn(" ".repeat(8))],
    folder: () => [
      "      args:",
      "        /cwd:",
      "          exists: true",
      "          glob:",
      ...listIn(" ".repeat(12)),
    ],
  }[kind];
  return [
    `  - id: ${id}`,
    "    when:",
    ...(kind === "fn" ? ["      fn:", ...listIn(" ".repeat(8))] : [`      fn: ${flow(fn)}`]),
    `      agent: ${flow(askers)}`,
    ...list(),
    ...(args ? [`      args: ${text(args)}`] : []),
    ...(expr === undefined ? [] : [`      expr: ${text(expr)}`]),
    ...(unless
      ? [
          "    unless:",
          ...Object.entries(unless).map(
            ([name, values]) => `      ${name}: ${typeof values === "string" ? text(values) : flow(values)}`,
          ),
        ]
      : []),
    `    decision: ${decision}`,
    ...(decision === "DENY" ? [`    reason: ${text("The agent's own list refuses it")}`] : []),
  ];
}

const nameOf = ({ text: written, file }: Pick<ListEntry, "text" | "file">, isSeveral: boolean): string =>
  `${comment(written.length > MOST_CHARS ? `${written.slice(0, MOST_CHARS)}...` : written)}${isSeveral ? ` (${comment(file)})` : ""}`;
