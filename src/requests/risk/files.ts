import { textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { headOf } from "../facts/function-name.ts";
import { knownSet } from "../facts/name-words.ts";
import { deletedFile, secretFile, writtenFile } from "./paths.ts";
import type { RiskFact, Judgement } from "./reason.ts";
import { isFileReader } from "./verbs.ts";

const PATH_NAMES = knownSet("path file filepath filename destination target source notebook uri");
const DELETES = knownSet("delete remove unlink rm");
const PATCHED = /^\*\*\* (?:(?:Add|Update) File|Move to): (.+)$/gm;
const PATCH_DELETES = /^\*\*\* Delete File: (.+)$/gm;
const DIFFED = /^\+\+\+ (?:b\/)?([^\t\n]+)/gm;
const MOST_PATHS = 200;

/** Judges the files that a call reads, writes or deletes by name, or by a patch; null for a call without any. */
export function judgedFiles(fn: string, leaves: readonly ArgumentLeaf[], folder: string | null): Judgement | null {
  const { words } = headOf(fn);
  const paths = leaves.flatMap((leaf) => pathsOf(leaf)).slice(0, MOST_PATHS);
  const patches = leaves.flatMap((leaf) =>
    leaf.value.kind === "text" && leaf.value.text.includes("\n") ? [leaf.value.text] : [],
  );
  const patched = patches.flatMap((text) => [
    ...found(text, PATCHED),
    ...(text.startsWith("--- ") ? found(text, DIFFED) : []),
  ]);
  const gone = patches.flatMap((text) => found(text, PATCH_DELETES));
  if (paths.length + patched.length + gone.length === 0) return null;
  const secret = paths.flatMap((path) => secretFile(path) ?? []);
  if (isFileReader(words)) return { facts: secret, onlyReads: secret.length === 0 };
  const isWhole =
    words.some((word) => ["directory", "folder", "dir", "tree"].includes(word)) ||
    leaves.some((leaf) => leaf.words.includes("recursive") && leaf.value.kind === "switch" && leaf.value.on);
  const isDeleted = words.some((word) => DELETES.has(word));
  const facts: RiskFact[] = isDeleted
    ? paths.flatMap((path) => deletedFile(path, folder, isWhole) ?? [])
    : paths.flatMap((path) => writtenFile(path, folder) ?? []);
  const ofPatch = patched.flatMap((path) => writtenFile(path, folder) ?? []);
  return {
    facts: [...facts, ...ofPatch, ...gone.flatMap((path) => deletedFile(path, folder, false) ?? [])],
    onlyReads: false,
  };
}

/** Whether a call deletes files by name, so that its paths say what is lost. */
export function deletesFiles(fn: string): boolean {
  const { words } = headOf(fn);
  return (
    words.some((word) => DELETES.has(word)) &&
    words.some((word) => ["file", "path", "directory", "folder"].includes(word))
  );
}

function pathsOf(leaf: ArgumentLeaf): string[] {
  const last = leaf.words.at(-1) ?? "";
  const items = leaf.value.kind === "list" ? leaf.value.items : [textOf(leaf)];
  const isPath = PATH_NAMES.has(last) || leaf.words.includes("path");
  return items.flatMap((item) =>
    typeof item === "string" &&
    item.length <= 1000 &&
    !item.includes("\n") &&
    isPath &&
    !/^[a-z]{2,}:\/\//i.test(item) &&
    (/[/\\.~]/.test(item) || /path|file/.test(last))
      ? [item]
      : [],
  );
}

function found(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].slice(0, MOST_PATHS).map(([, path = ""]) => path.trim());
}
