import { SEALED_BODY, sealedBodyOf } from "../../notices/model/sealed-body.ts";
import { sealedFor } from "../../conversations/model/sealed-key.ts";
import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { empty, raw, sql } from "../../core/store/sql.ts";
import { named } from "../../backup/store/tables.ts";

/** A column in which something is sealed, and for what. */
export interface SealedColumn {
  table: string;
  key: string;
  column: string;
  /** Which rows have something sealed; those alone are read. */
  where: string;
  /** Returns what is sealed in the column's text, and the id for which it is; null where nothing is. */
  find(text: string, key: string): { sealed: string; rowId: string } | null;
}

/** Every place in which something is sealed under the installation key. */
export const SEALED_PLACES: readonly SealedColumn[] = [
  whole("sealed_secrets", "name", "sealed"),
  whole("webhook_endpoints", "endpoint_id", "secrets"),
  whole("conversations", "number", "sealed_key", (number) => sealedFor(Number(number))),
  {
    table: "webhook_events",
    key: "event_id",
    column: "body",
    where: `body LIKE '${SEALED_BODY}%'`,
    find(text, key) {
      const sealed = sealedBodyOf(text);
      return sealed === null ? null : { sealed, rowId: key };
    },
  },
  {
    table: "asks",
    key: "ask_id",
    column: "wire",
    where: `wire LIKE '%"call":"%'`,
    find(text, key) {
      const { call } = JSON.parse(text) as { call?: unknown };
      return typeof call === "string" ? { sealed: call, rowId: key } : null;
    },
  },
];

function whole(table: string, key: string, column: string, idOf = (text: string) => text): SealedColumn {
  const find = (sealed: string, id: string) => ({ sealed, rowId: idOf(id) });
  return { table, key, column, where: `${column} IS NOT NULL`, find };
}

const ROWS_AT_ONCE = 500;

/** Every text of the place is what `change` makes of it. Returns how many were changed. */
export async function changeSealed(
  tx: Tx,
  { table, key, column, where }: SealedColumn,
  change: (text: string, key: string) => Promise<string>,
): Promise<number> {
  const [keys, texts] = [named(key), named(column)];
  let changed = 0;
  for (let after: string | number | null = null; ;) {
    const rows: { key: string | number; text: string }[] = await tx.all(
      sql`SELECT ${keys} AS key, ${texts} AS text FROM ${named(table)} WHERE ${raw(where)}
        ${after === null ? empty : sql`AND ${keys} > ${after}`} ORDER BY ${keys} LIMIT ${ROWS_AT_ONCE}`,
    );
    for (const row of rows) {
      after = row.key;
      const fresh = await change(row.text, String(row.key));
      if (fresh === row.text) continue;
      await tx.all(sql`UPDATE ${named(table)} SET ${texts} = ${fresh} WHERE ${keys} = ${row.key}`);
      changed += 1;
    }
    if (rows.length < ROWS_AT_ONCE) return changed;
  }
}

/** The counts of what depends on the installation key without being sealed, and ends under another key. */
export interface Dependents {
  /** Messages about open requests, whose links, codes and reply addresses follow from the key. */
  messages: number;
  /** Earlier decisions, which are found by it. */
  decisions: number;
  /** People of the crowd who are known by nothing but the cookie that it signed. */
  participants: number;
}

const OF_OPEN = sql`link_hash IS NOT NULL AND ask_id IN (SELECT ask_id FROM requests WHERE state = 'open')`;

export function countDependents(on: Queryable): Promise<Dependents> {
  return one<Dependents>(
    on,
    sql`SELECT (SELECT count(*) FROM deliveries WHERE ${OF_OPEN} AND state = 'sent') AS messages,
      (SELECT count(*) FROM decision_cache) AS decisions,
      (SELECT count(*) FROM participants WHERE person IS NULL) AS participants`,
  );
}

/**
 * Messages about open requests are found by what will stand in them from now on; those about others are found by nothing
 * that ever stood in them.
 */
export async function changeTokens(
  tx: Tx,
  hashesOf: (deliveryId: string) => { linkHash: string; replyHash: string },
): Promise<void> {
  const open = await tx.all<{ id: string }>(sql`SELECT delivery_id AS id FROM deliveries WHERE ${OF_OPEN}`);
  await tx.all(sql`UPDATE deliveries SET link_hash = NULL, reply_hash = NULL WHERE link_hash IS NOT NULL`);
  for (const { id } of open) {
    const { linkHash, replyHash } = hashesOf(id);
    await tx.all(
      sql`UPDATE deliveries SET link_hash = ${linkHash}, reply_hash = ${replyHash} WHERE delivery_id = ${id}`,
    );
  }
}
