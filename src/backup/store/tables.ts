import { one, type Queryable } from "../../core/store/db.ts";
import { join, raw, type Sql, sql } from "../../core/store/sql.ts";

/** A table as the database itself describes it. */
export interface Table {
  name: string;
  /** In alphabetical order, which both engines share: columns that came later stand elsewhere in one than in the other. */
  columns: readonly string[];
  /** The columns that order its rows: the primary key, or every column where the table has no key. */
  order: readonly string[];
}

interface ColumnRow {
  table: string;
  name: string;
  /** The place in the primary key, from 1; 0 for other columns. */
  key: number;
}

const COLUMNS = {
  sqlite: `SELECT m.name AS "table", c.name AS name, c.pk AS key
    FROM sqlite_master m, pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  postgres: `SELECT t.relname AS "table", a.attname AS name,
      coalesce(array_position(string_to_array(i.indkey::text, ' '), a.attnum::text), 0) AS key
    FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary
    WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace`,
};

const REFERENCES = {
  sqlite: `SELECT m.name AS child, f."table" AS parent FROM sqlite_master m, pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table'`,
  postgres: `SELECT child.relname AS child, parent.relname AS parent
    FROM pg_constraint c JOIN pg_class child ON child.oid = c.conrelid JOIN pg_class parent ON parent.oid = c.confrelid
    WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace`,
};

/**
 * Returns every table there is, as the database describes them, so that none is forgotten: what others refer to comes
 * before them, in one order on both engines.
 */
export async function readTables(on: Queryable): Promise<Table[]> {
  const found = await on.all<ColumnRow>(raw(COLUMNS[on.dialect]));
  const references = await on.all<{ child: string; parent: string }>(raw(REFERENCES[on.dialect]));
  const byTable = Map.groupBy(found, ({ table }) => table);
  const tables = [...byTable].map(([name, columns]): Table => {
    const keys = columns.filter(({ key }) => key > 0).sort((one, other) => one.key - other.key);
    const names = columns.map((column) => column.name).sort();
    return { name, columns: names, order: keys.length > 0 ? keys.map((key) => key.name) : names };
  });
  return inOrder(
    tables.sort((one, other) => (one.name < other.name ? -1 : 1)),
    references,
  );
}

function inOrder(tables: readonly Table[], references: readonly { child: string; parent: string }[]): Table[] {
  const ordered: Table[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const waits = (table: Table) =>
      references.some(
        ({ child, parent }) => child === table.name && parent !== child && left.some(({ name }) => name === parent),
      );
    const next = left.find((table) => !waits(table));
    if (!next) throw new Error(`tables refer to each other in a circle: ${left.map(({ name }) => name).join(", ")}`);
    ordered.push(next);
    left = left.filter((table) => table !== next);
  }
  return ordered;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** A name from the schema, as a part of a statement. */
export const named = (name: string): Sql => raw(quoted(name));
const listed = (names: readonly string[]): Sql => join(names.map(named), ", ");

/** Reads every row of a table, in its order. */
export function selectAll({ name, columns, order }: Table): Sql {
  const keys = order.map((column) => sql`${named(column)} NULLS FIRST`);
  return sql`SELECT ${listed(columns)} FROM ${named(name)} ORDER BY ${join(keys, ", ")}`;
}

/** Returns how many rows each table has. */
export async function countRows(on: Queryable, tables: readonly Table[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    counts[name] = (await one<{ rows: number }>(on, sql`SELECT count(*) AS rows FROM ${named(name)}`)).rows;
  }
  return counts;
}

/** Takes one row, each column a value. */
export const insertOne = ({ name, columns }: Table): Sql =>
  sql`INSERT INTO ${named(name)} (${listed(columns)}) VALUES (${join(columns.map(() => null))})`;

/** Takes a JSON list of rows; PostgreSQL alone. */
export const insertMany = ({ name, columns }: Table, rows: string): Sql =>
  sql`INSERT INTO ${named(name)} (${listed(columns)})
    SELECT ${listed(columns)} FROM json_populate_recordset(NULL::${named(name)}, ${rows}::json)`;

/** Deletes the rows that the migrations themselves have put into a table. */
export const deleteAll = ({ name }: Table): Sql => sql`DELETE FROM ${named(name)}`;

/** Numbers that PostgreSQL counts up by itself go on after the highest. */
export async function goOnCounting(on: Queryable): Promise<void> {
  const counted = await on.all<{ table: string; name: string }>(
    sql`SELECT t.relname AS "table", a.attname AS name FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid
      WHERE a.attidentity <> '' AND t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace`,
  );
  for (const { table, name } of counted) {
    const highest = sql`max(${named(name)})`;
    await on.all(
      sql`SELECT setval(pg_get_serial_sequence(${quoted(table)}, ${name}), coalesce(${highest}, 1), ${highest} IS NOT NULL)
        FROM ${named(table)}`,
    );
  }
}
