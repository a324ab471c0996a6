/**
 * Writes docs/reference/schema.sql, which shows the tables of a store as they are now: `node scripts/schema.mjs`. The
 * migrations make the tables; a test holds the page equal to them.
 */
import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { migrateTo, SCHEMA_NUMBER } from "../src/core/store/migrate.ts";

export const PAGE = new URL("../docs/reference/schema.sql", import.meta.url);

const HEAD = `-- The tables of a store, schema ${SCHEMA_NUMBER}, as SQLite has them. Times are epoch milliseconds, \`…_json\` and most
-- long texts are JSON. PostgreSQL has the same tables: INTEGER is BIGINT, TEXT is TEXT COLLATE "C", and a counted
-- primary key is an identity. Written by scripts/schema.mjs; a test holds it equal to the migrations.
`;

/** Returns the page: each table with its indexes, by name. */
export async function schemaPage() {
  using database = new DatabaseSync(":memory:");
  database.function("parley_now", () => 1);
  const all = ({ sql, values }) => Promise.resolve(database.prepare(sql).all(...values));
  await migrateTo({ dialect: "sqlite", all }, SCHEMA_NUMBER);
  return HEAD + schemaText(database);
}

/** Returns the statements that make the tables and indexes of an SQLite database, one column or constraint a line. */
export function schemaText(database) {
  const rows = database
    .prepare(
      `SELECT type, tbl_name AS "table", sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
       ORDER BY tbl_name, type DESC, name`,
    )
    .all();
  return rows.map(({ type, sql }) => (type === "table" ? `\n${tableText(sql)}` : `${oneLine(sql)};\n`)).join("");
}

const oneLine = (text) =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/"(\w+)"/g, "$1")
    .trim();

function tableText(text) {
  const line = oneLine(text);
  const [open, close] = [line.indexOf("("), line.lastIndexOf(")")];
  const parts = membersOf(line.slice(open + 1, close)).map((part) => `  ${part}`);
  return `${line.slice(0, open)}(\n${parts.join(",\n")}\n)${line.slice(close + 1)};\n`;
}

/** Splits what stands between the brackets of a table at its commas, those within brackets left out. */
function membersOf(text) {
  const members = [""];
  let depth = 0;
  for (const sign of text) {
    depth += sign === "(" ? 1 : sign === ")" ? -1 : 0;
    if (sign === "," && depth === 0) members.push("");
    else members[members.length - 1] += sign;
  }
  return members.map((member) => member.trim());
}

if (import.meta.main) writeFileSync(PAGE, await schemaPage());
