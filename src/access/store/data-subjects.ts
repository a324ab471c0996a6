import type { Queryable, Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** Somebody who is or was enrolled. */
export interface DataSubject {
  id: string;
  name: string;
  isOperator: boolean;
  hasLeft: boolean;
}

/** Returns everybody of this number or exact name, removed people included. */
export async function findCalled(on: Queryable, called: string): Promise<DataSubject[]> {
  const rows = await on.all<{ person_id: string; name: string; is_operator: number; left_at: number | null }>(
    sql`SELECT person_id, name, is_operator, left_at FROM people WHERE person_id = ${called} OR name = ${called}
      ORDER BY number`,
  );
  return rows.map((row) => ({
    id: row.person_id,
    name: row.name,
    isOperator: row.is_operator === 1,
    hasLeft: row.left_at !== null,
  }));
}

/** Returns the values of a person's identities: addresses and ids on channels. */
export async function listIdentityValues(on: Queryable, person: string): Promise<string[]> {
  const rows = await on.all<{ value: string }>(sql`SELECT value FROM identities WHERE person = ${person}`);
  return rows.map(({ value }) => value);
}

/** The person's name becomes the pseudonym, and nothing else is known of them. */
export async function pseudonymize(tx: Tx, id: string, pseudonym: string): Promise<void> {
  await tx.all(
    sql`UPDATE people SET name = ${pseudonym}, description = NULL, title = NULL, channels = '[]',
        updated_at = (SELECT parley_now()) WHERE person_id = ${id}`,
  );
}
