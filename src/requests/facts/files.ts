import { readDiff, summaryOfDiff } from "../../core/model/unified-diff.ts";
import { isJsonObject } from "../../lib/json/exact-json.ts";
import { textOf, type ArgumentLeaf } from "./leaves.ts";
import { knownWords } from "./name-words.ts";

/** The files that a call changes or reads, and how many lines it adds and removes. */
export interface ChangedFiles {
  files: readonly string[];
  /** Null where only one of the two is known, or none. */
  lines: { added: number; removed: number } | { written: number } | null;
  /** The files that a diff deletes. */
  deleted: readonly string[];
  leaves: readonly ArgumentLeaf[];
}

const MOST_LINES = 20_000;
const PLACES = new Set("file path filepath filename notebook".split(" "));
const CONTENT = new Set("content contents text body file_text new_source".split(" "));

/** Reads a call about files: with a path that is a file's, or with a diff; null for any other call. */
export function filesIn(leaves: readonly ArgumentLeaf[]): ChangedFiles | null {
  const place = leaves.find(isPath);
  const diffs = leaves.flatMap((leaf) => {
    const lines = diffIn(leaf);
    return lines ? [{ leaf, ...summaryOfDiff(lines) }] : [];
  });
  const [diff] = diffs;
  const path = place === undefined ? null : textOf(place);
  const edited = leaves.filter((leaf) => isEdit(leaf) || (path !== null && isContent(leaf)));
  if (diff) {
    const files = path === null || diff.files.length > 1 ? diff.files : [path];
    return { files, lines: diff, deleted: diff.deleted, leaves: [diff.leaf, ...(place ? [place] : []), ...edited] };
  }
  if (path === null || place === undefined || leaves.some(isSearch)) return null;
  return { files: [path], lines: linesOf(leaves), deleted: [], leaves: [place, ...edited] };
}

function isPath(leaf: ArgumentLeaf): boolean {
  const last = leaf.words.at(-1) ?? "";
  const isPlain = leaf.above.length === 0 && leaf.words.every((word) => PLACES.has(word));
  return leaf.value.kind === "text" && PLACES.has(last) && isPlain;
}

/** A call that looks for something names where it looks. */
function isSearch({ path }: ArgumentLeaf): boolean {
  return /^(?:pattern|query|regex|glob|search)$/i.test(path.at(-1) ?? "");
}

function isEdit(leaf: ArgumentLeaf): boolean {
  return sideOf(leaf) !== null || leaf.path.at(-1) === "edits";
}

function isContent({ path }: ArgumentLeaf): boolean {
  return CONTENT.has(path.at(-1) ?? "");
}

function sideOf({ path, value }: ArgumentLeaf): "old" | "new" | null {
  const words = knownWords(path.at(-1) ?? "");
  if (value.kind !== "text" || !words.some((word) => /^(?:string|str|text|content|source|code)$/.test(word)))
    return null;
  return words.includes("old") ? "old" : words.includes("new") ? "new" : null;
}

function linesOf(leaves: readonly ArgumentLeaf[]): ChangedFiles["lines"] {
  const of = (side: "old" | "new") => leaves.find((leaf) => sideOf(leaf) === side);
  const [before, after] = [of("old"), of("new")];
  if (before ?? after) return changed(before ? (textOf(before) ?? "") : "", after ? (textOf(after) ?? "") : "");
  const edits = leaves.find(({ path, value }) => path.at(-1) === "edits" && value.kind === "list");
  if (edits?.value.kind === "list") {
    return edits.value.items.map(editedBy).reduce((sum, one) => {
      return { added: sum.added + one.added, removed: sum.removed + one.removed };
    });
  }
  const content = leaves.find(isContent);
  const text = content && textOf(content);
  return text ? { written: linesIn(text).length } : null;
}

function editedBy(edit: unknown): { added: number; removed: number } {
  const members = isJsonObject(edit) ? Object.entries(edit) : [];
  const text = (side: string) => {
    const [, value] = members.find(([name]) => knownWords(name).includes(side)) ?? [];
    return typeof value === "string" ? value : "";
  };
  return changed(text("old"), text("new"));
}

/** The lines between the first and the last that differ. */
function changed(before: string, after: string): { added: number; removed: number } {
  const [old, now] = [linesIn(before), linesIn(after)];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  return { added: now.length - head - tail, removed: old.length - head - tail };
}

function linesIn(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split("\n");
}

function diffIn({ value }: ArgumentLeaf): ReturnType<typeof readDiff> {
  const texts: readonly unknown[] = value.kind === "list" ? value.items : value.kind === "text" ? [value.text] : [];
  for (const text of texts) {
    if (typeof text !== "string" || !text.includes("\n")) continue;
    const lines = text.split("\n");
    const diff = lines.length > MOST_LINES ? null : readDiff(lines);
    if (diff) return diff;
  }
  return null;
}

/**
 * Returns a path as it is read in its working folder. The path stays whole outside of it, and where the folder itself
 * says what it is: a hidden one, or one at the top.
 */
export function inFolder(path: string, folder: string | null): string {
  if (folder === null) return path;
  const parts = folder.split(/[\\/]/).filter((part) => part !== "");
  const isTelling = parts.length < 2 || parts.some((part) => part.startsWith("."));
  const base = /[\\/]$/.test(folder) ? folder.slice(0, -1) : folder;
  if (path.split(/[\\/]/).includes("..")) return path;
  if (isTelling || !path.startsWith(base) || !/^[\\/]./.test(path.slice(base.length))) return path;
  return path.slice(base.length + 1);
}
