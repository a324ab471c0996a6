import type { Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** Notes that a workshop reported now. */
export async function noteWorkshop(tx: Tx, holder: string): Promise<void> {
  await tx.all(
    sql`INSERT INTO task_workshops (holder, seen_at) VALUES (${holder}, parley_now())
      ON CONFLICT (holder) DO UPDATE SET seen_at = excluded.seen_at`,
  );
}

/** Deletes workshops that have not reported for `forMs`, and hold nothing. */
export async function forgetWorkshops(tx: Tx, forMs: number): Promise<void> {
  await tx.all(
    sql`DELETE FROM task_workshops WHERE seen_at <= (SELECT parley_now()) - ${forMs}
      AND NOT EXISTS (SELECT 1 FROM task_attempts a WHERE a.holder = task_workshops.holder AND a.ended_at IS NULL)`,
  );
}
