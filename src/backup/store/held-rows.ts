import type { Queryable, Tx } from "../../core/store/db.ts";
import type { HeldAtRestore } from "../../core/store/owned-tables.ts";
import { OWNED_TABLES } from "./owned-tables.ts";

/** The entry of the record about a restore. */
export const RESTORED = "store.restored";

export type HeldKind = HeldAtRestore["kind"];

/** Rows of one table that the last restore holds. */
export interface HeldRows {
  kind: HeldKind;
  noun: string;
  names: readonly string[];
}

const HELD_TABLES = OWNED_TABLES.flatMap(({ atRestore }) => Object.values(atRestore)).flatMap((table) =>
  table === "stays" || !table.held ? [] : [table.held],
);

/** Returns the rows that the restore at this moment holds, by table; tables without any are left out. */
export async function listHeld(on: Queryable, atMs: number): Promise<HeldRows[]> {
  const held: HeldRows[] = [];
  for (const { kind, noun, list } of HELD_TABLES) {
    const rows = await on.all<{ name: string }>(list(atMs));
    if (rows.length > 0) held.push({ kind, noun, names: rows.map(({ name }) => name) });
  }
  return held;
}

/** Puts the rows of this kind back that the restore at this moment holds. */
export async function putBack(tx: Tx, kind: HeldKind, atMs: number): Promise<void> {
  for (const table of HELD_TABLES) {
    if (table.kind !== kind) continue;
    for (const statement of table.putBack(atMs)) await tx.all(statement);
  }
}
