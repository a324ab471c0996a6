/** The table is written in a way that only a person should edit. */
export class TomlInTheWay extends Error {}

interface Line {
  /** With its end. */
  text: string;
  /** The table it opens. */
  header?: string[];
  /** The key it sets. */
  key?: string[];
  /** Blank, or a comment alone. */
  isIdle: boolean;
}

/**
 * Returns the text of a TOML file with the table `path` holding these lines, in its place or at the end; without lines
 * the table is taken out, with the blank line before it. Everything else stays as it was, and the file ends with a line
 * end only if it did.
 *
 * @throws {TomlInTheWay} where the table stands inside another one, so that it has no lines of its own
 */
export function editTomlTable(text: string, path: readonly string[], body?: readonly string[]): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = readLines(text);
  refuseInline(lines, path);
  const block = body && [`[${path.join(".")}]`, ...body].join(eol);

  const start = lines.findIndex(({ header }) => isWithin(header, path));
  if (start < 0) {
    if (block === undefined) return text;
    if (text === "") return block + eol;
    return text.endsWith("\n") ? text + eol + block + eol : text + eol + eol + block;
  }
  const next = lines.findIndex(({ header }, i) => i > start && header !== undefined && !isWithin(header, path));
  let end = next < 0 ? lines.length : next;
  // Comments and empty lines between two tables belong to the second table.
  while (lines[end - 1]?.isIdle) end -= 1;
  const before = textOf(lines.slice(0, start));
  const rest = textOf(lines.slice(end));
  const hasEnd = lines[end - 1]?.text.endsWith("\n") ?? false;
  if (block !== undefined) return before + block + (hasEnd ? eol : "") + rest;

  const kept = before.replace(/(^|\n)\r?\n$/, "$1");
  return hasEnd ? kept + rest : kept.replace(/\r?\n$/, "");
}

const textOf = (lines: readonly Line[]): string => lines.map((line) => line.text).join("");

function isWithin(header: readonly string[] | undefined, path: readonly string[]): boolean {
  return header !== undefined && path.every((name, i) => header[i] === name);
}

function refuseInline(lines: readonly Line[], path: readonly string[]): void {
  let table: readonly string[] = [];
  for (const { header, key } of lines) {
    if (header) table = header;
    if (!key || isWithin(table, path)) continue;
    const whole = [...table, ...key];
    if (isWithin(whole, path) || isWithin(path, whole)) throw new TomlInTheWay(`${whole.join(".")} is set in one line`);
  }
}

const NAME = /^\s*(?:([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')\s*/;

/** Reads a dotted name up to `end`; returns undefined if no valid name is there. */
function readName(text: string, end: "=" | "]"): string[] | undefined {
  const names: string[] = [];
  for (let rest = text; ;) {
    const match = NAME.exec(rest);
    if (!match) return undefined;
    names.push(match[1] ?? match[2] ?? match[3] ?? "");
    rest = rest.slice(match[0].length);
    if (rest.startsWith(end)) return names;
    if (!rest.startsWith(".")) return undefined;
    rest = rest.slice(1);
  }
}

/** Splits a text into lines, and marks those within a text or a list that spans several lines. */
function readLines(text: string): Line[] {
  const open: Open = { quote: null, depth: 0 };
  return (text === "" ? [] : text.split(/(?<=\n)/)).map((line): Line => {
    if (open.quote !== null || open.depth > 0) {
      follow(line, open);
      return { text: line, isIdle: false };
    }
    const plain = line.trim();
    if (plain === "" || plain.startsWith("#")) return { text: line, isIdle: true };
    const header = plain.startsWith("[") ? readName(plain.replace(/^\[\[?/, ""), "]") : undefined;
    if (header) return { text: line, header, isIdle: false };
    const key = readName(plain, "=");
    follow(line, open);
    return { text: line, ...(key && { key }), isIdle: false };
  });
}

/** The quote and the brackets still open at the end of a line. */
interface Open {
  quote: '"""' | "'''" | null;
  depth: number;
}

const TOKEN = /"""|'''|"(?:[^"\\]|\\.)*"|'[^']*'|[[{\]}#]/g;

function follow(line: string, open: Open): void {
  for (let at = 0; at < line.length;) {
    if (open.quote !== null) {
      const close = endOfText(line, at, open.quote);
      if (close < 0) return;
      open.quote = null;
      at = close;
    }
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(line);
    const token = match?.[0];
    if (token === undefined || token === "#") return;
    at = TOKEN.lastIndex;
    if (token === '"""' || token === "'''") open.quote = token;
    else if (token === "[" || token === "{") open.depth += 1;
    else if (token === "]" || token === "}") open.depth -= 1;
  }
}

/** Returns where a text that spans lines has ended, or -1 where it goes on. */
function endOfText(line: string, from: number, quote: '"""' | "'''"): number {
  const closing = quote === '"""' ? /\\.|"""/g : /'''/g;
  closing.lastIndex = from;
  for (let match = closing.exec(line); match; match = closing.exec(line)) {
    if (match[0] === quote) return closing.lastIndex;
  }
  return -1;
}
