import type { Row } from "../../backup/model/export-lines.ts";
import { named, type Table } from "../../backup/store/tables.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, type Sql, sql } from "../../core/store/sql.ts";

const textOf = (column: string): Sql => sql`CAST(${named(column)} AS TEXT)`;
const pattern = (words: string): string => `%${words.replace(/[!%_]/g, "!$&")}%`;

/** Words to look for: addresses in lower case, which are found in any, and others exactly as they are. */
export interface SearchedWords {
  anyCase: readonly string[];
  exact: readonly string[];
}

/** Returns the keys of all rows in which one of the words stands anywhere. */
export async function listRowsWith(on: Queryable, table: Table, { anyCase, exact }: SearchedWords): Promise<Row[]> {
  const each = table.columns.flatMap((column) => [
    ...anyCase.map((words) => sql`lower(${textOf(column)}) LIKE ${pattern(words)} ESCAPE '!'`),
    ...exact.map((words) => sql`${textOf(column)} LIKE ${pattern(words)} ESCAPE '!'`),
  ]);
  if (each.length === 0) return [];
  const keys = join(table.order.map(named), ", ");
  return on.all<Row>(sql`SELECT ${keys} FROM ${named(table.name)} WHERE ${join(each, " OR ")}`);
}

const isRow = (key: Row): Sql =>
  join(
    Object.entries(key).map(([column, value]) =>
      value === null ? sql`${named(column)} IS NULL` : sql`${named(column)} = ${value}`,
    ),
    " AND ",
  );

export function readRow(on: Queryable, table: Table, key: Row): Promise<Row | undefined> {
  return first<Row>(on, sql`SELECT * FROM ${named(table.name)} WHERE ${isRow(key)}`);
}

/** These columns of the row are what `values` says. */
export async function updateRow(
  tx: Tx,
  { table, key, values }: { table: Table; key: Row; values: Row },
): Promise<void> {
  const sets = Object.entries(values).map(([column, value]) => sql`${named(column)} = ${value}`);
  await tx.all(sql`UPDATE ${named(table.name)} SET ${join(sets, ", ")} WHERE ${isRow(key)}`);
}

/**
 * Returns every row of the table in which one of `columns` holds one of these ids, or one of the columns `writtenIn` has
 * one as the `person` of a part of its JSON.
 */
export function selectRowsOf(
  on: Queryable,
  table: Table,
  {
    columns,
    writtenIn = [],
    ids,
  }: { columns: readonly string[]; writtenIn?: readonly string[]; ids: readonly string[] },
): Promise<Row[]> {
  if (columns.length + writtenIn.length === 0 || ids.length === 0) return Promise.resolve([]);
  const written = ids.map((id) => pattern(`"person":${JSON.stringify(id)}`));
  const each = [
    ...columns.map((column) => sql`${textOf(column)} IN (${join([...ids])})`),
    ...writtenIn.flatMap((column) => written.map((part) => sql`${textOf(column)} LIKE ${part} ESCAPE '!'`)),
  ];
  const order = join(table.order.map(named), ", ");
  return on.all<Row>(sql`SELECT * FROM ${named(table.name)} WHERE ${join(each, " OR ")} ORDER BY ${order}`);
}
