import { textOf, type ArgumentLeaf } from "./leaves.ts";

/** A command of a call, and the arguments that say it. */
export interface CalledCommand {
  /** On one line; of a shell that runs a script, the script. */
  text: string;
  /** A line for a shell, or a program with its words, which no shell reads. */
  runs: string | readonly string[];
  leaves: readonly ArgumentLeaf[];
}

const NAMES = new Set("command cmd script shell exec program commandline".split(" "));
const WORDS = /^(?:args|argv|arguments)$/i;
/** A function whose name is one word can be a program, and `run_terraform` names one. */
const PROGRAM = /^(?:(?:run|exec|execute)_)?([a-z][a-z\d-]*)$/;
/** The commands of an editor of files, which no shell reads. */
const EDITS = /^(?:view|create|str_replace|insert|undo_edit|delete|rename)$/;
const SHELL = /(?:^|[\\/])(?:ba|z|da|k|fi)?sh(?:\.exe)?$/;
const RUNS_SCRIPT = /^-[a-z]*c$/;

/**
 * Returns the command of a call. The words of a program may stand in an argument of their own, `{ command: "kubectl",
 * args: ["get", "pods"] }`, and the function may be the program. Null for a call without a command.
 */
export function commandIn(fn: string, leaves: readonly ArgumentLeaf[]): CalledCommand | null {
  for (const leaf of leaves) {
    const name = leaf.words.at(-1) ?? "";
    if (!NAMES.has(name) && leaf.words.join(" ") !== "command line" && leaf.words[0] !== "command") continue;
    const words = leaves.find((other) => WORDS.test(other.path.at(-1) ?? "") && isBeside(leaf, other));
    const command = commandOf(leaf, words);
    const isEdit = command !== null && EDITS.test(command.text) && leaves.some(isPath);
    if (command !== null && !isEdit) return command;
  }
  const program = PROGRAM.exec(fn.split(/__|[./:]/).at(-1) ?? "")?.[1];
  const words = leaves.find(({ path }) => path.length === 1 && WORDS.test(path[0] ?? ""));
  if (program === undefined || words === undefined) return null;
  const all = wordsOf(words) ?? textOf(words)?.split(/\s+/);
  return all ? { text: joined([program, ...all]), runs: [program, ...all], leaves: [words] } : null;
}

function isPath({ path }: ArgumentLeaf): boolean {
  return /^(?:old_)?path$/.test(path.at(-1) ?? "");
}

function commandOf(leaf: ArgumentLeaf, words: ArgumentLeaf | undefined): CalledCommand | null {
  const own = leaf.value.kind === "list" ? wordsOf(leaf) : textOf(leaf);
  if (own === null) return null;
  const more = words === undefined ? null : wordsOf(words);
  if (words === undefined || more === null) {
    return { text: typeof own === "string" ? own : joined(own), runs: own, leaves: [leaf] };
  }
  const leaves = [leaf, words];
  if (typeof own === "string" && /\s/.test(own)) {
    const line = `${own} ${joined(more)}`;
    return { text: line, runs: line, leaves };
  }
  const all = [...(typeof own === "string" ? [own] : own), ...more];
  return { text: joined(all), runs: all, leaves };
}

function wordsOf({ value }: ArgumentLeaf): string[] | null {
  if (value.kind !== "list" || value.items.some((item) => typeof item === "object")) return null;
  return value.items.map(String);
}

function isBeside({ path }: ArgumentLeaf, other: ArgumentLeaf): boolean {
  return path.slice(0, -1).join("\n") === other.path.slice(0, -1).join("\n");
}

function joined(words: readonly string[]): string {
  const [program = "", flag = "", script] = words;
  if (SHELL.test(program) && RUNS_SCRIPT.test(flag) && script !== undefined && words.length === 3) return script;
  return words.map((word) => (/^[\w@%+=:,./*~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
