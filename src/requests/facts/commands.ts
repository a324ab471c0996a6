import { textOf, type ArgumentLeaf } from "./leaves.ts";

/** A text that is run, on one line. */
const NAMES = new Set("command cmd script shell exec program commandline".split(" "));
const SHELL = /(?:^|[\\/])(?:ba|z|da|k|fi)?sh(?:\.exe)?$/;
const RUNS_SCRIPT = /^-[a-z]*c$/;

/** The commands of an editor of files, which no shell reads. */
const EDITS = /^(?:view|create|str_replace|insert|undo_edit|delete|rename)$/;

function isPath({ path }: ArgumentLeaf): boolean {
  return /^(?:old_)?path$/.test(path.at(-1) ?? "");
}

/** Returns the argument that is a command, and the command itself: of a shell that runs a script, the script. */
export function commandIn(leaves: readonly ArgumentLeaf[]): { leaf: ArgumentLeaf; command: string } | null {
  for (const leaf of leaves) {
    const name = leaf.words.at(-1) ?? "";
    if (!NAMES.has(name) && leaf.words.join(" ") !== "command line" && leaf.words[0] !== "command") continue;
    const text = leaf.value.kind === "list" ? joined(leaf.value.items) : textOf(leaf);
    if (text !== null && !(EDITS.test(text) && leaves.some(isPath))) return { leaf, command: text };
  }
  return null;
}

function joined(items: readonly unknown[]): string | null {
  if (!items.every((item) => typeof item === "string")) return null;
  const [program = "", flag = "", script] = items;
  if (SHELL.test(program) && RUNS_SCRIPT.test(flag) && script !== undefined && items.length === 3) return script;
  return items.map((item) => (/^[\w@%+=:,./*~-]+$/.test(item) ? item : `'${item.replaceAll("'", "'\\''")}'`)).join(" ");
}
