import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { sql } from "../../core/store/sql.ts";

/** A tool's accepted definition, and its present one where that differs. */
export interface ToolPin {
  name: string;
  hash: string;
  definition: string;
  pinnedAt: number;
  /** Null while it is what was accepted. */
  changed: { hash: string; definition: string; at: number } | null;
}

const pinRows = rowsOf<ToolPin>()({
  name: "name",
  hash: "hash",
  definition: "definition",
  pinnedAt: "pinned_at",
  changed: changeIn,
});

function changeIn(row: {
  changed_hash: string | null;
  changed_definition: string | null;
  changed_at: number | null;
}): ToolPin["changed"] {
  const { changed_hash: hash, changed_definition: definition, changed_at: at } = row;
  return hash !== null && definition !== null && at !== null ? { hash, definition, at } : null;
}

/** Returns what a tool was accepted as, if it was ever used. */
export async function findPin(on: Queryable, name: string): Promise<ToolPin | undefined> {
  return pinRows.first(on, sql`SELECT * FROM tool_pins WHERE name = ${name}`);
}

export async function listPins(on: Queryable): Promise<ToolPin[]> {
  return pinRows.all(on, sql`SELECT * FROM tool_pins ORDER BY name`);
}

/** Counts the pins whose names begin like this, as far as `most`. */
export async function countPins(on: Queryable, beginning: string, most: number): Promise<number> {
  // No character of a name is above this one, by which both databases put text in order.
  const end = `${beginning}\u{10ffff}`;
  const { count } = await one<{ count: number }>(
    on,
    sql`SELECT count(*) AS count FROM (
        SELECT 1 FROM tool_pins WHERE name >= ${beginning} AND name < ${end} LIMIT ${most}) AS counted`,
  );
  return count;
}

/** The tool is accepted as it is, unless it was accepted as something before. */
export async function insertPinIfNew(
  on: Queryable,
  name: string,
  { hash, definition }: Pick<ToolPin, "hash" | "definition">,
): Promise<void> {
  await on.all(
    sql`INSERT INTO tool_pins (name, hash, definition, pinned_at)
      VALUES (${name}, ${hash}, ${definition}, parley_now()) ON CONFLICT (name) DO NOTHING`,
  );
}

/** Stores the changed definition beside the accepted one; null where the tool is as accepted again. */
export async function noteChange(
  on: Queryable,
  name: string,
  change: { hash: string; definition: string } | null,
): Promise<void> {
  await on.all(
    sql`UPDATE tool_pins SET changed_hash = ${change?.hash ?? null}, changed_definition = ${change?.definition ?? null},
        changed_at = CASE WHEN ${change === null ? 1 : 0} = 1 THEN NULL ELSE parley_now() END
      WHERE name = ${name}`,
  );
}

/** Accepts the changed definition if its hash is still `hash`; returns true if it was. */
export async function acceptChangeIfStill(tx: Tx, name: string, hash: string): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE tool_pins SET hash = changed_hash, definition = changed_definition, pinned_at = parley_now(),
        changed_hash = NULL, changed_definition = NULL, changed_at = NULL
      WHERE name = ${name} AND changed_hash = ${hash} RETURNING name`,
  );
  return rows.length > 0;
}
