import { countAllDecisions } from "../../asks/store/decision-cache.ts";
import { named } from "../../backup/store/tables.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import type { SealedColumn } from "../../core/store/owned-tables.ts";
import { empty, raw, sql } from "../../core/store/sql.ts";
import { countAnonymous } from "../../questions/store/participants.ts";
import { countOpenLinks } from "../../requests/store/token-hashes.ts";

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

export async function countDependents(on: Queryable): Promise<Dependents> {
  return {
    messages: await countOpenLinks(on),
    decisions: await countAllDecisions(on),
    participants: await countAnonymous(on),
  };
}
