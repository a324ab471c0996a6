import type { OutsideChannel } from "../../channels/kinds.ts";
import type { Identity } from "../model/identity.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { endSubscriptionsOf } from "./bound-subscriptions.ts";
import { deleteSignInsOf } from "./sign-ins.ts";
import { flag, json, rowsOf } from "../../core/store/rows.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { join, sql } from "../../core/store/sql.ts";
import { numberForms } from "../../lib/phone-number.ts";

/** Somebody enrolled to be asked: a person with a number, channels in order, and what agents may know. */
export interface Human {
  /** The id: `number` as text. */
  person: string;
  number: number;
  name: string;
  /** Runs this server: cannot be removed, and stays an admin. */
  isOperator: boolean;
  description: string | null;
  /** The person's job, such as "Finance lead". */
  title: string | null;
  /** Finds every ask in the inbox, and decides those that name nobody. */
  seesAll: boolean;
  /** In order of priority, each as its channel normalised it. */
  channels: readonly HumanChannel[];
  createdAt: number;
  updatedAt: number;
}

export interface HumanChannel {
  channel: OutsideChannel | "inbox";
  /** The address, as the channel has normalized it. */
  target: Readonly<Record<string, unknown>>;
  /** The address, as it was entered. */
  given?: Readonly<Record<string, unknown>>;
}

const humanRows = rowsOf<Human>()({
  person: "person_id",
  number: "number",
  name: "name",
  description: "description",
  title: "title",
  seesAll: flag("sees_all"),
  isOperator: flag("is_operator"),
  channels: json("channels"),
  createdAt: "created_at",
  updatedAt: "updated_at",
});

/** Holds every change to humans back to the end of the transaction, so that an address has one owner. */
export async function lockHumans(tx: Tx): Promise<void> {
  await tx.all(lockedRows(tx, "numbers", sql`name = 'channel'`));
}

/**
 * Somebody is enrolled no longer: nothing is addressed to them, and no session or key of theirs works. The row remains,
 * because what they decided names it.
 */
export async function retireHuman(tx: Tx, person: string): Promise<void> {
  await tx.all(sql`DELETE FROM identities WHERE person = ${person}`);
  await deleteSignInsOf(tx, person);
  await tx.all(sql`UPDATE keys SET revoked_at = coalesce(revoked_at, parley_now()) WHERE person = ${person}`);
  await endSubscriptionsOf(tx, person);
  await tx.all(
    sql`UPDATE people SET description = NULL, channels = '[]', sees_all = 0, left_at = (SELECT parley_now()),
        updated_at = (SELECT parley_now())
      WHERE person_id = ${person}`,
  );
}

/** Writes down what is known of a person beyond name and role. */
export async function updateHuman(
  tx: Tx,
  human: Omit<Human, "number" | "isOperator" | "createdAt" | "updatedAt">,
  identities: readonly Identity[],
): Promise<void> {
  await tx.all(
    sql`UPDATE people SET name = ${human.name}, description = ${human.description},
        title = ${human.title}, sees_all = ${human.seesAll ? 1 : 0}, channels = ${JSON.stringify(human.channels)},
        updated_at = (SELECT parley_now())
      WHERE person_id = ${human.person}`,
  );
  await tx.all(sql`DELETE FROM identities WHERE person = ${human.person}`);
  for (const { kind, value } of identities) {
    await tx.all(sql`INSERT INTO identities (kind, value, person) VALUES (${kind}, ${value}, ${human.person})`);
  }
}

export async function findHuman(on: Queryable, person: string): Promise<Human | undefined> {
  return humanRows.first(on, sql`SELECT * FROM people WHERE person_id = ${person} AND left_at IS NULL`);
}

export async function findHumanByNumber(on: Queryable, number: number): Promise<Human | undefined> {
  return humanRows.first(on, sql`SELECT * FROM people WHERE number = ${number} AND left_at IS NULL`);
}

/** Returns up to two humans of exactly this name: only their numbers distinguish more of them. */
export async function findTwoNamed(on: Queryable, name: string): Promise<Human[]> {
  return humanRows.all(on, sql`SELECT * FROM people WHERE name = ${name} AND left_at IS NULL ORDER BY number LIMIT 2`);
}

/** True where somebody had this number or name who is enrolled no longer. */
export async function isRetired(on: Queryable, called: string): Promise<boolean> {
  const number = /^[1-9]\d{0,14}$/.test(called) ? Number(called) : 0;
  const row = await first(
    on,
    sql`SELECT 1 AS one FROM people WHERE left_at IS NOT NULL AND (number = ${number} OR name = ${called}) LIMIT 1`,
  );
  return row !== undefined;
}

/** Returns the person to whom an address, a number in any of its forms, or a Slack user belongs. */
export async function findHumanByIdentity(on: Queryable, { kind, value }: Identity): Promise<Human | undefined> {
  const values = kind === "phone" ? numberForms(value) : [value];
  return humanRows.first(
    on,
    sql`SELECT p.* FROM identities i JOIN people p ON p.person_id = i.person
      WHERE i.kind = ${kind} AND i.value IN (${join(values)}) ORDER BY i.value = ${value} DESC LIMIT 1`,
  );
}

/** Returns humans in the order of their numbers, that follow number `after`. */
export async function listHumans(on: Queryable, after: number, limit: number): Promise<Human[]> {
  return humanRows.all(
    on,
    sql`SELECT * FROM people WHERE number > ${after} AND left_at IS NULL ORDER BY number LIMIT ${limit}`,
  );
}

/** Returns the people of these ids, those who are enrolled no longer too: what they decided still names them. */
export async function findHumans(on: Queryable, people: readonly string[]): Promise<Map<string, Human>> {
  if (people.length === 0) return new Map();
  const humans = await humanRows.all(on, sql`SELECT * FROM people WHERE person_id IN (${join([...people])})`);
  return new Map(humans.map((human) => [human.person, human]));
}

/** Returns everything a person is known by. */
export async function listIdentities(on: Queryable, person: string): Promise<Identity[]> {
  const rows = await on.all<{ kind: Identity["kind"]; value: string }>(
    sql`SELECT kind, value FROM identities WHERE person = ${person} ORDER BY kind, value`,
  );
  return rows.map(({ kind, value }) => ({ kind, value }));
}
