import { basename, dirname, join } from "node:path";
import type { PolicyEffect } from "../model/policy.ts";
import { type AgentLists, type ListEntry, type ListFile, UnreadList } from "./agent-list.ts";
import { commandPatterns } from "./command-patterns.ts";
import { onlyIn } from "./path-patterns.ts";

const DECISIONS: Readonly<Record<string, PolicyEffect>> = { allow: "ALLOW", prompt: "ESCALATE", forbidden: "DENY" };
/** Its prompts name it so, whatever shell runs. */
const SHELL = ["Bash"];
const MOST_PATTERNS = 100;

/** Codex 0.171.0: `prefix_rule` of its rules, in Starlark of which calls with plain values are read. */
export const codexLists: AgentLists = {
  places: ({ home, project, env }) => [
    join(env["CODEX_HOME"] || join(home, ".codex"), "rules", "*.rules"),
    join(project, ".codex", "rules", "*.rules"),
    join("/etc/codex", "rules", "*.rules"),
  ],
  projectOf: (path, home) => {
    const folder = dirname(dirname(path));
    return basename(folder) === ".codex" && dirname(folder) !== home ? dirname(folder) : null;
  },
  read: (files) => files.flatMap((file) => callsIn(file).map((call) => entryOf(call, file))),
};

type Value = string | Value[];

interface Call {
  name: string;
  written: string;
  values: ReadonlyMap<string, Value>;
}

function entryOf({ name, written, values }: Call, file: ListFile): ListEntry {
  const shown = (written.length > 120 ? `${written.slice(0, 117)}...` : written).replaceAll(/\s+/g, " ");
  const decided = values.get("decision") ?? "allow";
  const decision = typeof decided === "string" ? DECISIONS[decided] : undefined;
  const entry = { text: shown, file: file.path };
  if (name !== "prefix_rule") {
    const kinds: Readonly<Record<string, string>> = {
      host_executable: "a rule compares the program as it is written",
      network_rule: "it is about the network of the sandbox, which no prompt shows",
    };
    return { ...entry, decision: decision ?? "ALLOW", parts: [], note: kinds[name] ?? "it is of no known kind" };
  }
  const pattern = values.get("pattern");
  const isPattern = Array.isArray(pattern) && pattern.length > 0;
  if (!isPattern || decision === undefined)
    throw new UnreadList(file.path, `${shown} has no pattern, or no decision that is known`);
  const each = productOf(pattern.map((token) => [token].flat().filter((one) => typeof one === "string")));
  return { ...entry, decision, ...partsOf(each, decision, file) };
}

/** A list within the pattern holds words of which one stands there. */
function productOf(tokens: readonly (readonly string[])[]): string[][] {
  return tokens.reduce<string[][]>((all, token) => all.flatMap((words) => token.map((word) => [...words, word])), [[]]);
}

function partsOf(each: readonly string[][], decision: PolicyEffect, file: ListFile): Pick<ListEntry, "parts" | "note"> {
  const read = each.slice(0, MOST_PATTERNS).map((words) => {
    // A word with a blank is no word of a pattern: its quote says so.
    const line = words.map((word) => (/^\S+$/.test(word) ? word : `"${word}"`)).join(" ");
    return commandPatterns(line, "prefix", decision);
  });
  const pin = decision === "ALLOW" ? onlyIn(file) : {};
  const patterns = read.flatMap((one) => (Array.isArray(one.patterns) ? (one.patterns as string[]) : []));
  const isAny = read.some((one) => one.patterns === "any") || (each.length > MOST_PATTERNS && decision !== "ALLOW");
  const notes = [...new Set(read.flatMap(({ note }) => note ?? []))];
  if (each.length > MOST_PATTERNS)
    notes.push(decision === "ALLOW" ? "narrower: its first 100 commands" : "wider: every command");
  const note = notes.length > 0 ? notes.join("; ") : undefined;
  if (isAny) return { parts: [{ fn: SHELL }], note };
  return { parts: patterns.length > 0 ? [{ fn: SHELL, command: patterns, ...pin }] : [], note };
}

const TOKEN =
  /(?:(?<long>r?"""(?:[^\\]|\\[^])*?""")|(?<text>r?"(?:[^"\\\n]|\\.)*"|r?'(?:[^'\\\n]|\\.)*')|(?<word>\w+)|(?<sign>[[\](),=])|(?<end>$))/y;
const BLANK = /(?:[ \t\r\n]|#[^\n]*\n?)*/y;

/** Escapes are read where JSON has them too. */
function textOf(written: string): string | null {
  const inner = written.replace(/^"""([^]*)"""$|^["']([^]*)["']$/, "$1$2");
  if (!/^r|\\/.test(written)) return inner;
  try {
    return JSON.parse(written) as string;
  } catch {
    return null;
  }
}

/** Returns the calls of a file. @throws {UnreadList} for anything that is no call with texts and lists */
function callsIn({ path, text }: ListFile): Call[] {
  let at = 0;
  const lineAt = () => text.slice(0, at).split("\n").length;
  const fail = (because: string): never => {
    throw new UnreadList(path, `line ${lineAt()} ${because}`);
  };
  const next = (): { kind: string; value: string } => {
    BLANK.lastIndex = at;
    BLANK.test(text);
    TOKEN.lastIndex = at = BLANK.lastIndex;
    const found = TOKEN.exec(text) ?? fail("is no call with plain values");
    at = TOKEN.lastIndex;
    const [kind, value] = Object.entries(found.groups ?? {}).find(([, one]) => one !== undefined) ?? ["end", ""];
    return { kind, value };
  };
  const expect = (sign: string): void => {
    if (next().value !== sign) fail("is no call with plain values");
  };
  const peek = (): string => {
    const before = at;
    const { value } = next();
    at = before;
    return value;
  };
  const valueHere = (): Value => {
    const { kind, value } = next();
    if (value === "[" && kind === "sign") {
      const list: Value[] = [];
      while (peek() !== "]") {
        list.push(valueHere());
        if (peek() === ",") next();
        else if (peek() !== "]") fail("is no call with plain values");
      }
      next();
      return list;
    }
    const quoted = kind === "text" || kind === "long";
    if (quoted) return textOf(value) ?? fail("has a text with a backslash that is not read");
    return fail("is no call with plain values");
  };
  const calls: Call[] = [];
  for (let name = next(); name.kind !== "end"; name = next()) {
    const start = at - name.value.length;
    if (name.kind !== "word") fail("is no call with plain values");
    expect("(");
    const values = new Map<string, Value>();
    while (peek() !== ")") {
      const argument = next();
      if (argument.kind !== "word" || values.has(argument.value)) fail("has an argument without a name of its own");
      expect("=");
      values.set(argument.value, valueHere());
      if (peek() === ",") next();
      else if (peek() !== ")") fail("is no call with plain values");
    }
    next();
    calls.push({ name: name.value, written: text.slice(start, at), values });
  }
  return calls;
}
