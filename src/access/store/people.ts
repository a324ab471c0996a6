import { nextChannelNumber } from "./channel-numbers.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { optional, rowsOf } from "../../core/store/rows.ts";
import { join, sql, type Sql } from "../../core/store/sql.ts";

export type PersonRole = "admin" | "member";

/** Somebody with a name here: signs in, and decides what is addressed to them. */
export interface Person {
  /** The number that every door shows, as text: a person has no other id. */
  id: string;
  name: string;
  role: PersonRole;
  /** The person's id in entries of the record from before numbers were the only ids. */
  formerId?: string;
}

const personRows = rowsOf<Person>()({
  id: "person_id",
  name: "name",
  role: "role",
  formerId: optional("former_id"),
});

/**
 * Stores a person under the next number, which is the id. An admin sees every ask in the inbox, until that is changed.
 * One person at most runs the server.
 */
export async function insertPerson(
  tx: Tx,
  { name, role, isOperator = false }: Omit<Person, "id"> & { isOperator?: boolean },
): Promise<Person> {
  const number = await nextChannelNumber(tx);
  const id = String(number);
  await tx.all(
    sql`INSERT INTO people (person_id, number, name, role, sees_all, is_operator, created_at, updated_at)
      VALUES (${id}, ${number}, ${name}, ${role}, ${role === "admin" ? 1 : 0}, ${isOperator ? 1 : 0}, parley_now(),
        parley_now())`,
  );
  return { id, name, role };
}

/** Returns who runs this server; nobody before its first start. */
export async function findOperator(on: Queryable): Promise<Person | undefined> {
  return personRows.first(on, sql`SELECT person_id, name, role FROM people WHERE is_operator = 1`);
}

export async function findPerson(on: Queryable, id: string): Promise<Person | undefined> {
  return personRows.first(
    on,
    sql`SELECT person_id, name, role FROM people WHERE person_id = ${id} AND left_at IS NULL`,
  );
}

/** Returns everybody in the order of their numbers, and so longest known first. */
export async function listPeople(on: Queryable): Promise<Person[]> {
  return personRows.all(
    on,
    sql`SELECT person_id, name, role, former_id FROM people WHERE left_at IS NULL ORDER BY number`,
  );
}

/** Returns everybody who may run this server, longest known first. */
export async function listAdmins(on: Queryable): Promise<Person[]> {
  return (await listPeople(on)).filter(({ role }) => role === "admin");
}

/** True for what the record called a person before numbers were the only ids. */
export async function isFormerId(on: Queryable, id: string, former: string): Promise<boolean> {
  const row = await first(on, sql`SELECT 1 AS found FROM people WHERE person_id = ${id} AND former_id = ${former}`);
  return row !== undefined;
}

/** The person has this role from now on; returns nothing for somebody unknown. */
export async function updateRole(tx: Tx, id: string, role: PersonRole): Promise<Person | undefined> {
  return personRows.first(
    tx,
    sql`UPDATE people SET role = ${role}, updated_at = (SELECT parley_now())
      WHERE person_id = ${id} AND left_at IS NULL RETURNING person_id, name, role`,
  );
}

/** In SQL, the ids that the names of an audience's readers stand for: people, identities, or everybody who sees all. */
export function peopleOfReaders(readers: readonly string[], allReaders: string): Sql {
  const names = join(["", ...readers]);
  return sql`SELECT person_id FROM people WHERE left_at IS NULL AND (person_id IN (${names})
    OR person_id IN (SELECT person FROM identities WHERE kind || ':' || value IN (${names}))
    OR sees_all = 1 AND ${readers.includes(allReaders) ? 1 : 0} = 1)`;
}

/** Returns those ids. */
export async function findPeopleOfReaders(on: Queryable, ...of: Parameters<typeof peopleOfReaders>): Promise<string[]> {
  return (await on.all<{ person_id: string }>(peopleOfReaders(...of))).map((row) => row.person_id);
}
