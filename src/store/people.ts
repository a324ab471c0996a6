import { first, type Queryable, type Tx } from "./db.ts";
import { nextChannelNumber } from "./humans.ts";
import { sql } from "./sql.ts";

export type Role = "admin" | "member";

/** Somebody with a name here: signs in, and decides what is addressed to them. */
export interface Person {
  id: string;
  name: string;
  role: Role;
}

interface PersonRow {
  person_id: string;
  name: string;
  role: Role;
}

function toPerson(row: PersonRow): Person {
  return { id: row.person_id, name: row.name, role: row.role };
}

/** Returns true when the person was not there before. An admin sees every ask in the inbox, until told otherwise. */
export async function insertPersonIfNew(tx: Tx, person: Person): Promise<boolean> {
  const rows = await tx.all(
    sql`INSERT INTO people (person_id, name, role, sees_all, created_at, updated_at)
      VALUES (${person.id}, ${person.name}, ${person.role}, ${person.role === "admin" ? 1 : 0}, parley_now(), parley_now())
      ON CONFLICT (person_id) DO NOTHING RETURNING person_id`,
  );
  if (rows.length === 0) return false;
  await tx.all(sql`UPDATE people SET number = ${await nextChannelNumber(tx)} WHERE person_id = ${person.id}`);
  return true;
}

export async function findPerson(on: Queryable, id: string): Promise<Person | undefined> {
  const row = await first<PersonRow>(
    on,
    sql`SELECT person_id, name, role FROM people WHERE person_id = ${id} AND left_at IS NULL`,
  );
  return row && toPerson(row);
}

/** Returns everybody, longest known first. */
export async function listPeople(on: Queryable): Promise<Person[]> {
  const rows = await on.all<PersonRow>(
    sql`SELECT person_id, name, role FROM people WHERE left_at IS NULL ORDER BY created_at, person_id`,
  );
  return rows.map(toPerson);
}

/** Returns everybody with the number that names them as a human, longest known first. */
export async function listNumbered(on: Queryable): Promise<(Person & { number: number })[]> {
  const rows = await on.all<PersonRow & { number: number }>(
    sql`SELECT person_id, name, role, number FROM people WHERE left_at IS NULL ORDER BY number`,
  );
  return rows.map((row) => ({ ...toPerson(row), number: row.number }));
}

/** Returns everybody who may run this server, longest known first. */
export async function listAdmins(on: Queryable): Promise<Person[]> {
  return (await listPeople(on)).filter(({ role }) => role === "admin");
}

/** The person has this role from now on; returns nothing for somebody unknown. */
export async function updateRole(tx: Tx, id: string, role: Role): Promise<Person | undefined> {
  const row = await first<PersonRow>(
    tx,
    sql`UPDATE people SET role = ${role}, updated_at = (SELECT parley_now())
      WHERE person_id = ${id} AND left_at IS NULL RETURNING person_id, name, role`,
  );
  return row && toPerson(row);
}

/** The participant's device is this person's from now on: what it answers counts as the person's answer. */
export async function giveDeviceTo(tx: Tx, participantId: string, person: string): Promise<void> {
  await tx.all(sql`UPDATE participants SET person = ${person} WHERE participant_id = ${participantId}`);
}
