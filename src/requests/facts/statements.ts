import { readSql } from "./sql.ts";
import { textOf, type ArgumentLeaf } from "./leaves.ts";

/** One statement of SQL on one line, as it stands. */
export interface Statement {
  text: string;
  /** The tables that it names; none where it cannot be read. */
  tables: readonly string[];
  /** It changes or deletes every row of a table. */
  isWithoutWhere: boolean;
  destroys: boolean;
}

const NAMES = new Set("sql query statement".split(" "));
const BEGINS =
  /^\s*(?:select|insert|update|delete|drop|truncate|alter|create|merge|with|grant|revoke|explain|copy|call|vacuum|begin|set|replace|rename|lock|refresh)\b/i;
const LOSES = /^(?:drop|truncate|delete)\b|^alter\b.*\bdrop\b/i;
const CHANGES_ROWS = new Set(["update", "delete"]);
/** Texts in quotes, and comments: what stands in them is no SQL. */
const APART = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//g;
const LONGEST_READ = 20_000;

/** Returns the argument that is SQL, and its statements: what destroys stands first. */
export function statementsIn(leaves: readonly ArgumentLeaf[]): { leaf: ArgumentLeaf; statements: Statement[] } | null {
  for (const leaf of leaves) {
    const text = leaf.value.kind === "list" ? leaf.value.items.join(";\n") : (textOf(leaf) ?? "");
    if (!leaf.words.some((word) => NAMES.has(word)) || text === "") continue;
    const statements = statementsOf(text.slice(0, LONGEST_READ));
    const isSql = leaf.words.includes("sql") || BEGINS.test(statements[0]?.text ?? "");
    if (isSql && statements.length > 0) return { leaf, statements: weightiestFirst(statements) };
  }
  return null;
}

function weightiestFirst(statements: readonly Statement[]): Statement[] {
  const weight = (one: Statement) => (one.destroys ? 2 : 0) + (one.isWithoutWhere ? 1 : 0);
  return statements.toSorted((one, other) => weight(other) - weight(one));
}

/** Facts of the reader; of a statement that it cannot read, only its first words are known. */
function factsOf(text: string): Omit<Statement, "text"> {
  const read = readSql(text);
  if (read === null) return { tables: [], isWithoutWhere: false, destroys: LOSES.test(text) };
  return {
    tables: read.flatMap(({ tables }) => tables),
    isWithoutWhere: read.some(({ verb, hasWhere }) => CHANGES_ROWS.has(verb) && !hasWhere),
    destroys: read.some(({ loses }) => loses) || LOSES.test(text),
  };
}

function statementsOf(sql: string): Statement[] {
  const isComment = (part: string) => part.startsWith("--") || part.startsWith("/*");
  const ends: number[] = [];
  const bare = sql.replace(APART, (part) => (isComment(part) ? " ".repeat(part.length) : "x".repeat(part.length)));
  for (let at = bare.indexOf(";"); at >= 0; at = bare.indexOf(";", at + 1)) ends.push(at);
  const bounds = [-1, ...ends, sql.length];
  return bounds.slice(1).flatMap((end, i): Statement[] => {
    const from = (bounds[i] ?? -1) + 1;
    const text = sql
      .slice(from, end)
      .replace(APART, (part) => (isComment(part) ? " " : part))
      .replace(/\s+/g, " ")
      .trim();
    if (text === "") return [];
    return [{ text, ...factsOf(text) }];
  });
}
