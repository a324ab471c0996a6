/** One piece of SQL. The text of a bare word is in small letters; that of a quoted one is as written, without its quotes. */
export interface SqlToken {
  kind: "word" | "quoted" | "text" | "number" | "sign";
  text: string;
}

/** More than anybody reads; one pass over the text finds every token. */
const LONGEST_SQL = 10_000;

const SPACE = /[ \t\r\n\f]+/y;
const LINE_COMMENT = /--(?=[ \t\r\n]|$)[^\r\n]*/y;
const BLOCK_COMMENT = /\/\*(?![!+M])(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\//y;
const WORD = /[\p{L}_][\p{L}\p{N}_]*/uy;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?(?![\p{L}_])/iuy;
const TEXT = /'(?:[^']|'')*'/y;
const QUOTED = /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[A-Za-z_][\w ]*\]/y;
/** A `$` stands before the number of a parameter, and else opens a text in one dialect alone. */
const SIGN = /\$(?=\d)|[-(),.;:=<>!+*/%|&~^?@[\]]/y;

const KINDS = [
  ["text", TEXT],
  ["quoted", QUOTED],
  ["number", NUMBER],
  ["word", WORD],
  ["sign", SIGN],
] as const;

/**
 * Splits SQL into its tokens, without comments. Returns null for a text that dialects of SQL split differently, such as
 * one with a backslash before a quote, with `#` or `$$`, and for a template: what runs is then not certain.
 */
export function sqlTokens(sql: string): SqlToken[] | null {
  if (sql.length > LONGEST_SQL || /\\['"`]|\{\{|\{%|<%|\$\{/.test(sql)) return null;
  const tokens: SqlToken[] = [];
  for (let at = 0; at < sql.length;) {
    const blank = matchAt(SPACE, sql, at) ?? matchAt(LINE_COMMENT, sql, at) ?? matchAt(BLOCK_COMMENT, sql, at);
    if (blank !== null) {
      at += blank.length;
      continue;
    }
    if (sql.startsWith("--", at) || sql.startsWith("/*", at)) return null;
    const token = tokenAt(sql, at);
    if (token === null) return null;
    tokens.push(token.token);
    at += token.length;
  }
  return tokens;
}

function tokenAt(sql: string, at: number): { token: SqlToken; length: number } | null {
  for (const [kind, pattern] of KINDS) {
    const written = matchAt(pattern, sql, at);
    if (written === null) continue;
    const text = kind === "word" ? written.toLowerCase() : kind === "quoted" ? written.slice(1, -1) : written;
    return { token: { kind, text }, length: written.length };
  }
  return null;
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}
