import { isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Pair, YAMLSeq } from "yaml";

/** A change of one item of a list in a YAML text. */
export type ItemChange =
  | { do: "replace"; place: number; item: string }
  | { do: "add"; place: number; item: string }
  | { do: "remove"; place: number };

/** Where an item stands in its text: from its first character to behind its last one. */
interface Span {
  start: number;
  end: number;
}

/** Returns the texts of the items of a list, as they stand, without the indentation that all their lines share. */
export function itemTexts(text: string, key: string): string[] {
  const list = listOf(text, key);
  return list === null ? [] : spansOf(text, list).map((span) => outdented(text, span));
}

/**
 * Returns a YAML text with one item of a list changed, and with every byte outside of it as it was. An item that is
 * removed takes the comments directly above it along. The caller checks what the new text says.
 */
export function withItem(text: string, key: string, change: ItemChange): string {
  const list = listOf(text, key);
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  if (list === null || list.items.length === 0)
    return change.do === "add" ? withFirst(text, key, { item: change.item, newline }) : text;
  const spans = spansOf(text, list);
  const parts: Parts = { text, spans, newline };
  return list.flow === true ? inBrackets(parts, change) : inBlock(parts, change);
}

interface Parts {
  text: string;
  spans: readonly Span[];
  newline: string;
}

function inBlock({ text, spans, newline }: Parts, change: ItemChange): string {
  const span = spans[change.place];
  if (change.do === "replace") {
    if (!span) return text;
    const column = span.start - lineStart(text, span.start);
    return text.slice(0, span.start) + indented(change.item, column, newline) + text.slice(span.end);
  }
  if (change.do === "remove") {
    if (!span) return text;
    return text.slice(0, withComments(text, span)) + text.slice(behind(text, span));
  }
  const near = span ?? spans.at(-1);
  if (!near) return text;
  const line = lineStart(text, dashBefore(text, near.start));
  const indent = dashBefore(text, near.start) - line;
  const lines = `${" ".repeat(indent)}- ${indented(change.item, indent + 2, newline)}${newline}`;
  const at = span ? withComments(text, span) : behind(text, near);
  const before = text.slice(0, at);
  return `${before}${before.endsWith("\n") ? "" : newline}${lines}${text.slice(at)}`;
}

/** In a list in brackets an item that is added stands on the line of its neighbour. */
function inBrackets({ text, spans }: Parts, change: ItemChange): string {
  const span = spans[change.place];
  if (change.do === "replace") return span ? text.slice(0, span.start) + change.item + text.slice(span.end) : text;
  if (change.do === "add") {
    if (span) return `${text.slice(0, span.start)}${change.item}, ${text.slice(span.start)}`;
    const end = spans.at(-1)?.end ?? 0;
    return `${text.slice(0, end)}, ${change.item}${text.slice(end)}`;
  }
  if (!span) return text;
  const next = spans[change.place + 1];
  if (next) return text.slice(0, span.start) + text.slice(next.start);
  const from = spans[change.place - 1]?.end ?? span.start;
  return text.slice(0, from) + text.slice(span.end);
}

/** The list has no item yet, or is not there. */
function withFirst(text: string, key: string, { item, newline }: { item: string; newline: string }): string {
  const lines = `${newline}  - ${indented(item, 4, newline)}`;
  const pair = pairOf(text, key);
  if (!pair) return `${text}${text === "" || text.endsWith("\n") ? "" : newline}${key}:${lines}${newline}`;
  const { value } = pair;
  const [from = 0, to = 0] = (value as { range?: readonly number[] } | null)?.range ?? [];
  // An empty list or null stands in its place; nothing where the key stands alone.
  if (to > from) return text.slice(0, from).trimEnd() + lines + text.slice(to);
  const [, keyEnd = 0] = (pair.key as { range?: readonly number[] }).range ?? [];
  const end = text.indexOf("\n", keyEnd);
  const at = end === -1 ? text.length : text[end - 1] === "\r" ? end - 1 : end;
  return text.slice(0, at) + lines + text.slice(at);
}

function pairOf(text: string, key: string): Pair | undefined {
  const { contents } = parseDocument(text, { schema: "core", version: "1.2", keepSourceTokens: true });
  if (!isMap(contents)) return undefined;
  return contents.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

function listOf(text: string, key: string): YAMLSeq | null {
  const value = pairOf(text, key)?.value;
  return isSeq(value) ? value : null;
}

function spansOf(text: string, list: YAMLSeq): Span[] {
  const tokens = list.srcToken && "items" in list.srcToken ? list.srcToken.items : [];
  const isBefore = (type: string): boolean => type === "anchor" || type === "tag";
  return list.items.map((item, place) => {
    const [from = 0, to = 0] = (item as { range?: readonly number[] }).range ?? [];
    const name = tokens[place]?.start.find(({ type }) => isBefore(type));
    const start = name && "offset" in name ? name.offset : from;
    return { start, end: start + text.slice(start, to).trimEnd().length };
  });
}

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
};

const dashBefore = (text: string, at: number): number => text.lastIndexOf("-", at - 1);

/** Where the lines of an item begin, with the comments directly above. */
function withComments(text: string, { start }: Span): number {
  const dash = dashBefore(text, start);
  let at = lineStart(text, dash);
  const indent = dash - at;
  while (at > 0) {
    const above = lineStart(text, at - 1);
    const line = text.slice(above, at);
    if (line.search(/\S/) !== indent || line[indent] !== "#") return at;
    at = above;
  }
  return at;
}

/** Where the lines of an item end, with the comments below that are indented as a part of it. */
function behind(text: string, { start, end }: Span): number {
  const dash = dashBefore(text, start);
  const indent = dash - lineStart(text, dash);
  let at = lineEnd(text, end);
  while (at < text.length) {
    const line = text.slice(at, lineEnd(text, at));
    const first = line.search(/\S/);
    if (first <= indent || line[first] !== "#") return at;
    at += line.length;
  }
  return at;
}

function indented(item: string, columns: number, newline: string): string {
  const [first = "", ...rest] = item.trimEnd().split(/\r?\n/);
  return [first, ...rest.map((line) => (line.trim() === "" ? line : " ".repeat(columns) + line))].join(newline);
}

function outdented(text: string, { start, end }: Span): string {
  const column = start - lineStart(text, start);
  const [first = "", ...rest] = text.slice(start, end).split(/\r?\n/);
  const shared = rest.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const by = Math.min(column, ...shared);
  return [first, ...rest.map((line) => line.slice(Math.min(by, Math.max(0, line.search(/\S|$/)))))].join("\n");
}
