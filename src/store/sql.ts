import sqlTag, { empty, join, raw, type Sql } from "sql-template-tag";

/** One text for both databases: values become `?` on SQLite and `$n` on PostgreSQL. */
export const sql = sqlTag;
export { empty, join, raw, type Sql };
