import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import ts from "typescript";
import { TABLES_BY_ROOM } from "../../src/backup/store/owned-tables.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** SQL that names a table of another room all the same. Each of these rooms comes before the owner, and cannot call it. */
export const FOREIGN_TABLES: readonly { file: string; tables: readonly string[]; because: string }[] = [
  {
    file: "src/access/store/bound-subscriptions.ts",
    tables: ["push_subscriptions"],
    because: "a subscription ends in the transaction that ends its session or key",
  },
  {
    file: "src/questions/store/notified.ts",
    tables: ["notices"],
    because: "the points of an answer depend on when its person was notified, and are stored with the answer",
  },
  {
    file: "src/questions/store/participants.ts",
    tables: ["notices", "push_subscriptions"],
    because: "a participant and all of their rows are erased in one transaction",
  },
  {
    file: "src/requests/store/device-notices.ts",
    tables: ["notices", "push_subscriptions"],
    because: "one statement of the transaction that stores a request plans its notices",
  },
  {
    file: "src/requests/store/channel-figures.ts",
    tables: ["notices"],
    because: "push is one of the channels whose figures are read at once",
  },
];

/** A table that the SQL of a file names and the file's room does not own. */
export interface ForeignTable {
  file: string;
  line: number;
  table: string;
}

const ownerOf = new Map(
  Object.entries(TABLES_BY_ROOM).flatMap(([room, { names }]) => names.map((name) => [name, room])),
);

/** Returns every foreign table in the sources; migrations, which are history, are left out. */
export function findForeignTables(): ForeignTable[] {
  const files = globSync("src/**/*.ts", { cwd: ROOT, exclude: ["src/core/store/migrations/**"] }).sort();
  return files.flatMap((file) => foreignTablesIn(file, readFileSync(resolve(ROOT, file), "utf8")));
}

/** Returns the foreign tables that the text of one file names, once for each line. */
export function foreignTablesIn(file: string, text: string): ForeignTable[] {
  if (!MAY_BE_SQL.test(text)) return [];
  const room = /^src\/([^/]+)\//.exec(file)?.[1];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Map<string, ForeignTable>();
  const visit = (node: ts.Node): void => {
    for (const { table, position } of tablesIn(node)) {
      if (ownerOf.get(table) === room) continue;
      const line = source.getLineAndCharacterOfPosition(position).line + 1;
      found.set(`${line} ${table}`, { file, line, table });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found.values()];
}

const MAY_BE_SQL = /\bsql`|\braw\(|\b(?:FROM|JOIN|INTO|UPDATE|TABLE|ONLY)\b/;
/** Tables in the words of SQL: `FROM asks a, jobs j`, `INSERT INTO asks`, `UPDATE asks`, `LOCK TABLE asks`. */
const NAMED = /\b(?:FROM|JOIN|INTO|UPDATE|TABLE|ONLY)\s+((?:"?\w+"?(?:\s+(?:AS\s+)?\w+)?\s*,\s*)*"?\w+"?)/g;
/** A column with its table: `asks.ask_id`. */
const QUALIFIED = /(?<![\w.])(\w+)\.\w/g;

function tablesIn(node: ts.Node): { table: string; position: number }[] {
  if (!ts.isTemplateLiteral(node) && !ts.isStringLiteral(node)) return [];
  const text = wordsOf(node);
  const names: { name: string; at: number }[] = [];
  for (const { 0: whole, 1: list = "", index } of text.matchAll(NAMED)) {
    for (const { 1: name = "", index: at } of list.matchAll(/(?:^|,\s*)"?(\w+)/g)) {
      names.push({ name, at: index + whole.length - list.length + at });
    }
  }
  if (isSql(node)) {
    for (const { 1: name = "", index: at } of text.matchAll(QUALIFIED)) names.push({ name, at });
    const alone = /^[`"']\s*"?(\w+)"?\s*[`"']$/.exec(text)?.[1];
    if (alone !== undefined) names.push({ name: alone, at: 0 });
  }
  return names
    .filter(({ name }) => ownerOf.has(name))
    .map(({ name, at }) => ({ table: name, position: node.getStart() + at }));
}

/** Returns the text of a literal, with signs in the place of its expressions, which are visited by themselves. */
function wordsOf(node: ts.TemplateLiteral | ts.StringLiteral): string {
  let text = node.getText();
  if (!ts.isTemplateExpression(node)) return text;
  for (const { expression } of node.templateSpans) {
    const [from, to] = [expression.getFullStart() - node.getStart(), expression.getEnd() - node.getStart()];
    text = text.slice(0, from) + "?".repeat(to - from) + text.slice(to);
  }
  return text;
}

/** True for the text of a `sql` template and the argument of `raw`. */
function isSql(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isTaggedTemplateExpression(parent)) return parent.tag.getText() === "sql";
  return ts.isCallExpression(parent) && parent.expression.getText() === "raw";
}
