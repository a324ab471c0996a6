import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { endSubscriptionsUnder } from "./bound-subscriptions.ts";
import { SESSION_MS } from "./credentials.ts";
import type { Person } from "./people.ts";
import { type Sql, sql } from "../../core/store/sql.ts";

/** How long a one-time link works. */
const LINK_MS = 30 * 60_000;
/** A session is written down as seen at most this often. */
const SIGHTING_MS = 3_600_000;

/** The code signs `person` in once, within 30 minutes; codes that are over are forgotten. Returns when it ends. */
export async function insertCode(tx: Tx, hash: string, person: string): Promise<number> {
  await tx.all(sql`DELETE FROM sign_in_codes WHERE expires_at <= (SELECT parley_now())`);
  const row = await one<{ expires_at: number }>(
    tx,
    sql`INSERT INTO sign_in_codes (hash, person, expires_at) VALUES (${hash}, ${person}, parley_now() + ${LINK_MS})
      RETURNING expires_at`,
  );
  return row.expires_at;
}

/** Spends a code. Returns the person whom it signs in if it was good, and nothing ever after. */
export async function spendCode(tx: Tx, hash: string): Promise<string | undefined> {
  const row = await first<{ person: string }>(
    tx,
    sql`UPDATE sign_in_codes SET used_at = parley_now()
      WHERE hash = ${hash} AND used_at IS NULL AND expires_at > parley_now() RETURNING person`,
  );
  return row?.person;
}

/** The session is the person's; sessions that are over are forgotten. */
export async function insertSignIn(tx: Tx, hash: string, person: string): Promise<void> {
  await deleteWhere(tx, sql`seen_at <= (SELECT parley_now()) - ${SESSION_MS}`);
  await tx.all(
    sql`INSERT INTO sign_ins (hash, person, created_at, seen_at) VALUES (${hash}, ${person}, parley_now(), parley_now())`,
  );
}

/** Returns whose session it is, and whether it is time to write down that it was seen. */
export async function findSignIn(
  on: Queryable,
  hash: string,
): Promise<{ person: Person; isSightingDue: boolean } | undefined> {
  const row = await first<Person & { seen_at: number; now: number }>(
    on,
    sql`SELECT p.person_id AS id, p.name, p.role, s.seen_at, parley_now() AS now
      FROM sign_ins s JOIN people p ON p.person_id = s.person WHERE s.hash = ${hash}`,
  );
  if (!row || row.now - row.seen_at >= SESSION_MS) return undefined;
  const { id, name, role } = row;
  return { person: { id, name, role }, isSightingDue: row.now - row.seen_at >= SIGHTING_MS };
}

export async function touchSignIn(tx: Tx, hash: string): Promise<void> {
  await tx.all(sql`UPDATE sign_ins SET seen_at = parley_now() WHERE hash = ${hash}`);
}

/** Returns how many sessions each person has that are not over. */
export async function countSignIns(on: Queryable): Promise<Map<string, number>> {
  const rows = await on.all<{ person: string; count: number }>(
    sql`SELECT person, count(*) AS count FROM sign_ins WHERE seen_at > (SELECT parley_now()) - ${SESSION_MS}
      GROUP BY person`,
  );
  return new Map(rows.map(({ person, count }) => [person, count]));
}

/** The person is signed in nowhere any more, and no link made so far signs them in. */
export async function deleteSignInsOf(tx: Tx, person: string): Promise<void> {
  await deleteWhere(tx, sql`person = ${person}`);
  await tx.all(sql`DELETE FROM sign_in_codes WHERE person = ${person}`);
}

export async function deleteSignIn(tx: Tx, hash: string): Promise<void> {
  await deleteWhere(tx, sql`hash = ${hash}`);
}

/**
 * Deletes the sessions first: a caller that subscribes under one of them meanwhile holds it, and is found afterwards.
 */
async function deleteWhere(tx: Tx, which: Sql): Promise<void> {
  const ended = await tx.all<{ hash: string }>(sql`DELETE FROM sign_ins WHERE ${which} RETURNING hash`);
  const hashes = ended.map(({ hash }) => hash);
  await endSubscriptionsUnder(tx, hashes);
}
