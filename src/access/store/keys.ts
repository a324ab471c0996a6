import type { Scope } from "../../lib/secrets/key-text.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, rowsOf, type RowOf } from "../../core/store/rows.ts";
import { join, type Sql, sql } from "../../core/store/sql.ts";
import { endSubscriptionsUnder } from "./bound-subscriptions.ts";

/** A key as it is stored: never its text. */
export interface Key {
  id: string;
  name: string;
  scope: Scope;
  /** Whose it is; null for a service's. */
  person: string | null;
  /** May answer what it asked itself. */
  selfRespond: boolean;
  /**
   * The addressee of its requests that name nobody: a human's id, a conversation's, or the name of a configured
   * channel.
   */
  channel: string | null;
  /** The one conversation it is good for; null where it is not bound to any. */
  conversation: number | null;
  /** The repositories an `assign` key is good for; null for all. */
  repos: readonly string[] | null;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** When it was last seen, to the hour. */
  usedAt: number | null;
}

export interface NewKey {
  id: string;
  name: string;
  scope: Scope;
  hash: string;
  person: string | null;
  selfRespond: boolean;
  channel: string | null;
  conversation: number | null;
  repos: readonly string[] | null;
  /** How long it is good for; null for ever. */
  forMs: number | null;
}

/** When a key went out of force: revoked, or held by a restore. */
const ENDED_AT = sql`coalesce(revoked_at, held_at) AS revoked_at`;

const keyRows = rowsOf<Key>()({
  id: "key_id",
  name: "name",
  scope: "scope",
  person: "person",
  selfRespond: flag("self_respond"),
  channel: "channel",
  conversation: "conversation",
  repos: json("repos_json"),
  createdAt: "created_at",
  expiresAt: "expires_at",
  revokedAt: "revoked_at",
  usedAt: "used_at",
});

type KeyRow = RowOf<typeof keyRows>;

export async function insertKey(tx: Tx, key: NewKey): Promise<Key> {
  return keyRows.one(
    tx,
    sql`INSERT INTO keys (key_id, name, scope, hash, person, self_respond, channel, conversation, repos_json,
        created_at, expires_at)
      VALUES (${key.id}, ${key.name}, ${key.scope}, ${key.hash}, ${key.person}, ${key.selfRespond ? 1 : 0}, ${key.channel},
        ${key.conversation}, ${key.repos && JSON.stringify(key.repos)}, parley_now(), parley_now() + ${key.forMs})
      RETURNING key_id, name, scope, person, self_respond, channel, conversation, repos_json, created_at, expires_at,
        ${ENDED_AT}, used_at`,
  );
}

/** A key is written down as seen at most this often. */
const SIGHTING_MS = 3_600_000;

/** Returns the key of this hash, unless it was revoked or has expired, and whether its sighting is to be written down. */
export async function findLiveKey(
  on: Queryable,
  hash: string,
): Promise<(Key & { isSightingDue: boolean }) | undefined> {
  const row = await first<KeyRow & { now: number }>(
    on,
    sql`SELECT key_id, name, scope, person, self_respond, channel, conversation, repos_json, created_at, expires_at, ${ENDED_AT},
        used_at, parley_now() AS now FROM keys
      WHERE hash = ${hash} AND revoked_at IS NULL AND held_at IS NULL
        AND (expires_at IS NULL OR expires_at > parley_now())`,
  );
  return row && { ...keyRows.read(row), isSightingDue: row.now - (row.used_at ?? 0) >= SIGHTING_MS };
}

/** Returns the id of a key of a program that has this name in whatever case, revoked ones too. */
export async function findKeyNamed(on: Queryable, name: string): Promise<string | undefined> {
  const row = await first<{ key_id: string }>(
    on,
    sql`SELECT key_id FROM keys WHERE scope IN ('agent', 'executor') AND lower(name) = ${name.toLowerCase()} LIMIT 1`,
  );
  return row?.key_id;
}

/** Returns the principal of the newest key of a program that has this name in whatever case, that of an agent first. */
export async function findPrincipalNamed(on: Queryable, name: string): Promise<string | undefined> {
  const row = await first<{ principal: string }>(
    on,
    sql`SELECT scope || ':' || name AS principal FROM keys
      WHERE scope IN ('agent', 'executor', 'assign') AND lower(name) = ${name.toLowerCase()}
      ORDER BY CASE WHEN name = ${name} THEN 0 ELSE 1 END, CASE scope WHEN 'agent' THEN 0 ELSE 1 END, created_at DESC, key_id LIMIT 1`,
  );
  return row?.principal;
}

/** True where a key of this principal was ever made. */
export async function hadKey(on: Queryable, principal: string): Promise<boolean> {
  const [, scope, name] = /^([^:]*):(.*)$/s.exec(principal) ?? [];
  const row = await first(
    on,
    sql`SELECT 1 AS one FROM keys WHERE scope = ${scope ?? ""} AND name = ${name ?? ""} LIMIT 1`,
  );
  return row !== undefined;
}

/** The key was seen now. */
export async function touchKey(tx: Tx, id: string): Promise<void> {
  await tx.all(sql`UPDATE keys SET used_at = (SELECT parley_now()) WHERE key_id = ${id}`);
}

/** True in SQL where the person owns, or ever owned, a key that speaks for the principal. */
export const speaksFor = (person: Sql, principal: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM keys k WHERE k.person = ${person} AND k.scope || ':' || k.name = ${principal})`;

/** True when the person owns, or ever owned, a key that speaks for the principal. */
export async function ownsKeyOf(on: Queryable, person: string, principal: string): Promise<boolean> {
  const row = await first(
    on,
    sql`SELECT 1 AS found FROM keys WHERE person = ${person} AND scope || ':' || name = ${principal} LIMIT 1`,
  );
  return row !== undefined;
}

/** True when the principal is the person's alone to stop: they own a key of it, or owned the last, and nobody else has one. */
export async function answersFor(on: Queryable, person: string, principal: string): Promise<boolean> {
  const isLive = sql`revoked_at IS NULL AND held_at IS NULL AND (expires_at IS NULL OR expires_at > parley_now())`;
  const row = await one<{ owned: number; own: number; others: number }>(
    on,
    sql`SELECT count(CASE WHEN person = ${person} THEN 1 END) AS owned,
        count(CASE WHEN person = ${person} AND ${isLive} THEN 1 END) AS own,
        count(CASE WHEN coalesce(person, '') <> ${person} AND ${isLive} THEN 1 END) AS others
      FROM keys WHERE scope || ':' || name = ${principal}`,
  );
  return row.own > 0 || (row.owned > 0 && row.others === 0);
}

/** Returns every key there ever was, newest first. */
export async function listKeys(on: Queryable): Promise<Key[]> {
  return keyRows.all(
    on,
    sql`SELECT key_id, name, scope, person, self_respond, channel, conversation, repos_json, created_at, expires_at, ${ENDED_AT},
        used_at FROM keys
      ORDER BY created_at DESC, key_id`,
  );
}

/** Every key of a scope that is a person's is good for nothing any more. */
export async function revokeKeysOf(tx: Tx, person: string, scope: Scope): Promise<void> {
  await tx.all(
    sql`UPDATE keys SET revoked_at = coalesce(revoked_at, parley_now()) WHERE person = ${person} AND scope = ${scope}`,
  );
}

/** The key is good for nothing any more; the time of its first revocation stays. Returns nothing for an unknown id. */
export async function revokeKey(tx: Tx, id: string): Promise<Key | undefined> {
  const row = await first<KeyRow & { hash: string }>(
    tx,
    sql`UPDATE keys SET revoked_at = coalesce(revoked_at, parley_now()) WHERE key_id = ${id}
      RETURNING key_id, name, scope, person, self_respond, channel, conversation, repos_json, created_at, expires_at,
        ${ENDED_AT}, used_at, hash`,
  );
  if (!row) return undefined;
  await endSubscriptionsUnder(tx, [row.hash]);
  return keyRows.read(row);
}

/** Revokes the keys whose ids a statement selects. */
export const revokeSelected = (ids: Sql, atMs: number): Sql =>
  sql`UPDATE keys SET revoked_at = ${atMs} WHERE key_id IN (${ids}) AND revoked_at IS NULL`;

/** Deletes the keys that were made for these conversations. */
export async function deleteKeysOfConversations(tx: Tx, conversations: readonly number[]): Promise<void> {
  await tx.all(sql`DELETE FROM keys WHERE conversation IN (${join([...conversations])})`);
}
