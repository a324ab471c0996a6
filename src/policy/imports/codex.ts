import { basename, dirname, join } from "node:path";
import type { PolicyEffect } from "../model/policy.ts";
import { type AgentLists, type Carried, left, type ListEntry, type ListFile, rowOf, UnreadList } from "./agent-list.ts";
import { commandParts } from "./command-patterns.ts";
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

interface Call {
  name: string;
  written: string;
  values: ReadonlyMap<string, Value>;
}

/** A text, or a list whose members are texts or lists of texts. */
type Value = string | (string | string[])[];

const KINDS: Readonly<Record<string, string>> = {
  host_executable: "a rule compares the program as it is written",
  network_rule: "it is about the network of the sandbox, which no prompt shows",
};

function entryOf({ name, written, values }: Call, file: ListFile): ListEntry {
  const text = (written.length > 120 ? `${written.slice(0, 117)}...` : written).replaceAll(/\s+/g, " ");
  const decision = rowOf(DECISIONS, values.get("decision") ?? "allow");
  const entry = { text, file: file.path };
  if (name !== "prefix_rule") return { ...entry, decision: decision ?? "ALLOW", ...left(rowOf(KINDS, name)) };
  const pattern = values.get("pattern");
  if (!Array.isArray(pattern) || pattern.length === 0 || decision === undefined)
    throw new UnreadList(file.path, `${text} has no pattern, or no decision that is known`);
  return { ...entry, decision, ...carried(pattern, decision, file) };
}

/** A list within the pattern holds words of which one stands there. */
function carried(pattern: readonly (string | string[])[], decision: PolicyEffect, file: ListFile): Carried {
  // A word with a blank is no word of a pattern: its quote says so.
  const tokens = pattern.map((token) => [token].flat().map((word) => (/^\S+$/.test(word) ? word : `"${word}"`)));
  const count = tokens.reduce((product, token) => product * token.length, 1);
  const lines = tokens.reduce<string[]>(
    (all, token) => all.flatMap((line) => token.map((word) => `${line} ${word}`)).slice(0, MOST_PATTERNS),
    [""],
  );
  const { parts, note } = commandParts(SHELL, lines, { form: "prefix", decision, more: onlyIn(file) });
  if (count <= MOST_PATTERNS) return { parts, note };
  const isAllow = decision === "ALLOW";
  const more = isAllow ? "narrower: its first 100 commands" : "wider: every command";
  return { parts: isAllow ? parts : [{ fn: SHELL }], note: note === undefined ? more : `${note}; ${more}` };
}

const TOKEN =
  /(?:(?<text>r?"""(?:[^\\]|\\[^])*?"""|r?"(?:[^"\\\n]|\\.)*"|r?'(?:[^'\\\n]|\\.)*')|(?<word>\w+)|(?<sign>[[\](),=])|(?<end>$))/y;
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
  const fail = (because = "is no call with plain values"): never => {
    throw new UnreadList(path, `line ${text.slice(0, at).split("\n").length} ${because}`);
  };
  let at = 0;
  const tokenHere = () => {
    BLANK.lastIndex = at;
    BLANK.test(text);
    TOKEN.lastIndex = BLANK.lastIndex;
    const { groups = {} } = TOKEN.exec(text) ?? fail();
    const [kind = "end", value = ""] = Object.entries(groups).find(([, one]) => one !== undefined) ?? [];
    return { kind, value, ends: TOKEN.lastIndex };
  };
  const next = () => {
    const token = tokenHere();
    at = token.ends;
    return token;
  };
  /** Reads what stands between commas, up to a bracket. */
  const each = (end: string, read: () => void): void => {
    while (tokenHere().value !== end) {
      read();
      if (tokenHere().value === ",") next();
      else if (tokenHere().value !== end) fail();
    }
    next();
  };
  const expect = (sign: string): void => void (next().value === sign || fail());
  const readText = (): string => {
    const { kind, value } = next();
    return kind === "text" ? (textOf(value) ?? fail("has a text with a backslash that is not read")) : fail();
  };
  function readList<T>(read: () => T): T[] {
    const list: T[] = [];
    expect("[");
    each("]", () => list.push(read()));
    return list;
  }
  const textOr = <T>(read: () => T): string | T => (tokenHere().value === "[" ? read() : readText());
  const calls: Call[] = [];
  for (let name = next(); name.kind !== "end"; name = next()) {
    const start = at - name.value.length;
    if (name.kind !== "word") fail();
    expect("(");
    const values = new Map<string, Value>();
    each(")", () => {
      const { kind, value } = next();
      if (kind !== "word" || values.has(value)) fail("has an argument without a name of its own");
      expect("=");
      values.set(
        value,
        textOr(() => readList(() => textOr(() => readList(readText)))),
      );
    });
    calls.push({ name: name.value, written: text.slice(start, at), values });
  }
  return calls;
}
