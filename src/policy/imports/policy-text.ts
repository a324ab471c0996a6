import { printable } from "../../lib/printable.ts";
import { listLines, NotedValue } from "../../lib/yaml-text.ts";
import type { PolicyEffect } from "../model/policy.ts";
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
    ...files.map((file) => `# Read: ${printable(file)}`),
    "# An ALLOW covers at most what its entry does, a DENY and an ESCALATE at least that. A pattern with a * takes no",
    "# options of programs that are not known to read, no path out of the folder, and no name with a dot in front.",
    "# Quotes, 2>&1, > /dev/null and a cd into the same folder make no difference to a command.",
    "version: 1",
    ...listLines(
      "rules",
      groups.map((group, at) =>
        ruleOf(group, { id: `${agent.word}-${WORDS[group.decision]}-${at + 1}`, askers, isSeveral }),
      ),
    ),
    ...(left.length > 0 ? ["", "# Not carried over:"] : []),
    ...left.map(
      ({ decision, note = "it is of no known kind", ...entry }) =>
        `#   ${WORDS[decision]} ${nameOf(entry, isSeveral)}: ${printable(note)}`,
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

function ruleOf({ decision, kind, common, lines }: Group, { id, askers, isSeveral }: RuleName): object {
  const { fn, args, expr, unless } = common;
  const notes = new Map<string, string[]>();
  for (const { values, entry } of lines) {
    const [first = ""] = values.filter((value) => !notes.has(value)).concat(values);
    for (const value of values) if (!notes.has(value)) notes.set(value, []);
    notes.get(first)?.push(`${nameOf(entry, isSeveral)}${entry.note === undefined ? "" : `: ${entry.note}`}`);
  }
  const list = [...notes].map(([value, some]) => (some.length > 0 ? new NotedValue(value, some) : value));
  const folder = kind === "folder" && { "/cwd": { exists: true, glob: list } };
  return {
    id,
    when: {
      fn,
      agent: askers,
      ...(!folder && { [kind]: list }),
      ...((args ?? folder) && { args: { ...args, ...folder } }),
      ...(expr !== undefined && { expr }),
    },
    ...(unless && { unless }),
    decision,
    ...(decision === "DENY" && { reason: "The agent's own list refuses it" }),
  };
}

const nameOf = ({ text: written, file }: Pick<ListEntry, "text" | "file">, isSeveral: boolean): string =>
  `${printable(written.length > MOST_CHARS ? `${written.slice(0, MOST_CHARS)}...` : written)}${isSeveral ? ` (${printable(file)})` : ""}`;
