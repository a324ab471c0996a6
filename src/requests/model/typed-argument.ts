import { canonicalExact, isExactNumber, membersOf, readExactJson } from "../../lib/json/exact-json.ts";
import { printableExactly } from "../../lib/printable.ts";
import { moneyOf, type Money } from "../facts/money.ts";
import { readDiff, type DiffLine } from "../../core/model/unified-diff.ts";

/**
 * An argument in a readable form, in place of its JSON. Two different texts never look the same: invisible characters
 * are escapes, and a string that could be taken for something else stands in quotes.
 */
export type TypedArgument =
  | { kind: "text"; lines: string[] }
  | { kind: "diff"; lines: DiffLine[] }
  | { kind: "list"; items: string[] }
  | { kind: "table"; columns: string[]; rows: string[][] }
  | { kind: "fields"; rows: [string, string][] }
  /** The host is the one that a browser goes to, whatever the text looks like. */
  | { kind: "link"; text: string; href: string; host: string }
  /** An instant in ISO 8601, or a day. */
  | { kind: "date"; text: string; at: string }
  | ({ kind: "money"; text: string } & Money);

/** More lines than this are shown as JSON, as a text without line breaks would be. */
const MOST_LINES = 5000;
const MOST_COLUMNS = 12;

/**
 * Returns an argument as what it is, or null where its JSON says as much, or where what is drawn could be taken for
 * something else. `beside` are the arguments that it stands among: a currency belongs to an amount.
 */
export function typedArgument(
  name: string,
  canonical: string,
  beside: Readonly<Record<string, unknown>>,
): TypedArgument | null {
  const value = readExactJson(canonical);
  if (typeof value === "string") return typedString(value);
  if (typeof value === "number") {
    const money = moneyOf(name, canonical, beside);
    return money && { kind: "money", text: canonical, ...money };
  }
  return Array.isArray(value) ? typedList(value) : typedFields(value);
}

/** Returns how many lines, items, cells or rows a drawn argument has. */
export function partsIn(typed: TypedArgument): number {
  switch (typed.kind) {
    case "text":
    case "diff":
      return typed.lines.length;
    case "list":
      return typed.items.length;
    case "table":
      return (typed.rows.length + 1) * typed.columns.length;
    case "fields":
      return typed.rows.length;
    case "link":
    case "date":
    case "money":
      return 1;
  }
}

function typedString(value: string): TypedArgument | null {
  if (/[\r\n]/.test(value)) return typedLines(value);
  const text = inline(value);
  if (text === value) return linkOf(value) ?? dateOf(value) ?? { kind: "text", lines: [text] };
  return text === printableExactly(JSON.stringify(value)) ? null : { kind: "text", lines: [text] };
}

function typedLines(value: string): TypedArgument | null {
  const lines = value.split("\n");
  if (lines.length > MOST_LINES || lines.some((line) => !isPlain(line))) return null;
  const diff = readDiff(lines);
  if (!diff) return { kind: "text", lines: lines.map(drawn) };
  return { kind: "diff", lines: diff.map((line, at) => drawnInDiff(line, at === diff.length - 1)) };
}

/**
 * The sign before a line is no blank at its end, even where nothing follows. An empty line shows its line break, and a
 * last line that is only a blank shows the blank: each looks like the other otherwise.
 */
function drawnInDiff({ sign, text }: DiffLine, isLast: boolean): DiffLine {
  if (text === "") return { sign, text: isLast ? "" : "↵" };
  if (sign === "@" || !text.startsWith(sign) || (isLast && text === " ")) return { sign, text: drawn(text) };
  return { sign, text: sign + drawn(text.slice(1)) };
}

function typedList(items: readonly unknown[]): TypedArgument | null {
  if (items.length === 0) return null;
  if (items.every(isScalar)) return { kind: "list", items: items.map(inline) };
  if (!items.every(isFlat)) return null;
  const columns = [...new Set(items.flatMap((item) => Object.keys(membersOf(item))))];
  if (columns.length > MOST_COLUMNS) return null;
  const rows = items.map((item) => columns.map((column) => cellOf(membersOf(item), column)));
  return { kind: "table", columns: columns.map(inline), rows };
}

function typedFields(value: unknown): TypedArgument | null {
  if (!isFlat(value)) return null;
  return { kind: "fields", rows: Object.entries(membersOf(value)).map(([name, of]) => [inline(name), inline(of)]) };
}

/** Returns the text of a cell: empty for a missing member, quotes for an empty string. */
const cellOf = (row: Readonly<Record<string, unknown>>, column: string): string =>
  Object.hasOwn(row, column) ? inline(row[column]) : "";

function isFlat(value: unknown): boolean {
  const members = Object.values(membersOf(value));
  return members.length > 0 && members.every(isScalar);
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null || isExactNumber(value);
}

/** A string that would be something else in JSON without its quotes, or that ends in blanks. */
const NEEDS_QUOTES = /^$|^\s|\s$|^["{[]|^-?\d+(\.\d+)?([eE][+-]?\d+)?$|^(true|false|null)$/;

/** One line for any value: a string without its quotes where it can be taken for nothing else, all else as JSON. */
function inline(value: unknown): string {
  if (typeof value !== "string") return canonicalExact(value);
  const isBare = isPlain(value) && !NEEDS_QUOTES.test(value) && !/[\t\r\n]/.test(value);
  return printableExactly(isBare ? value : JSON.stringify(value));
}

/** The marks that drawing adds to a text: `\u` begins an escape, one arrow is a tab, and another ends each line. */
const LOOKS_DRAWN = /\\u(\{|[0-9a-f]{4})|[⇥↵]/i;

/** Returns whether the escapes in a drawn text can be distinguished from the text's own characters. */
function isPlain(text: string): boolean {
  return text.isWellFormed() && !LOOKS_DRAWN.test(text) && !/\\\\u/.test(printableExactly(text));
}

/** Draws one line: a tab as an arrow, blanks at its end as escapes. */
function drawn(line: string): string {
  const shown = line.split("\t").map(printableExactly).join("⇥ ");
  const end = shown.replace(/(?<! ) +$/, "").length;
  return shown.slice(0, end) + "\\u0020".repeat(shown.length - end);
}

/** An address that a browser opens, as a whole; nothing else becomes a link. */
function linkOf(text: string): TypedArgument | null {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return null;
  const { href, host } = new URL(text);
  return { kind: "link", text, href, host };
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A moment with a zone, or a day. */
function dateOf(text: string): TypedArgument | null {
  const [, year, month, day, time] = DATE.exec(text) ?? [];
  if (day === undefined) return null;
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
    .toISOString()
    .startsWith(text.slice(0, 10));
  const at = Date.parse(text);
  if (!isDay || Number.isNaN(at)) return null;
  return { kind: "date", text, at: time === undefined ? text : new Date(at).toISOString() };
}
