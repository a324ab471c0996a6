import type { Queryable, Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

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

/** Returns every address of the person: identities, and targets of messages and conversations, as JSON. */
export async function listReached(on: Queryable, person: string): Promise<{ identities: string[]; targets: string[] }> {
  const identities = await on.all<{ value: string }>(sql`SELECT value FROM identities WHERE person = ${person}`);
  const targets = await on.all<{ target: string }>(
    sql`SELECT DISTINCT coalesce(long_target, target) AS target FROM deliveries WHERE person = ${person}
      UNION SELECT opener FROM conversations WHERE person = ${person}
      UNION SELECT target FROM conversations WHERE person = ${person}`,
  );
  return { identities: identities.map(({ value }) => value), targets: targets.map(({ target }) => target) };
}

/**
 * Deletes every means to reach or recognise the person, and whether a telephone number of theirs wanted messages. The
 * person's name becomes the pseudonym.
 */
export async function forgetPerson(
  tx: Tx,
  { id, pseudonym, phones }: { id: string; pseudonym: string; phones: readonly string[] },
): Promise<void> {
  await tx.all(sql`DELETE FROM notices WHERE subscription_id IN
    (SELECT subscription_id FROM push_subscriptions WHERE person = ${id})`);
  await tx.all(sql`DELETE FROM push_subscriptions WHERE person = ${id}`);
  await tx.all(
    sql`UPDATE participants SET last_fingerprint = NULL, recovery_hash = NULL, recovery_expires_at = NULL,
        time_zone = NULL, time_zone_at = NULL WHERE participant_id = ${id}`,
  );
  if (phones.length > 0) await tx.all(sql`DELETE FROM phones WHERE number IN (${join([...phones])})`);
  await tx.all(
    sql`UPDATE people SET name = ${pseudonym}, description = NULL, title = NULL, channels = '[]',
        updated_at = (SELECT parley_now()) WHERE person_id = ${id}`,
  );
}

/** Returns the open requests whose audience holds one of these addresses. */
export async function listOpenAt(on: Queryable, addresses: readonly string[]): Promise<string[]> {
  if (addresses.length === 0) return [];
  const each = addresses.map((address) => sql`lower(audience) LIKE ${`%${address.toLowerCase()}%`}`);
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM requests WHERE state = 'open' AND (${join(each, " OR ")}) ORDER BY ask_id`,
  );
  return rows.map(({ ask_id: id }) => id);
}

/** Returns the entries of the record whose actor is the person, or whose data is about them, oldest first. */
export function listEntriesNaming(on: Queryable, person: string): Promise<{ entry: string; data: string | null }[]> {
  const by = `%"actor":{"id":${JSON.stringify(person)},"kind":"human"}%`;
  const about = `%"person":${JSON.stringify(person)}%`;
  return on.all(sql`SELECT entry, data FROM audit WHERE entry LIKE ${by} OR data LIKE ${about} ORDER BY id`);
}
