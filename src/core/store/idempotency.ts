import { first, one, type Tx } from "./db.ts";
import { type Sql, sql } from "./sql.ts";

/** How long a key stands for the object it made. */
const IDEMPOTENCY_MS = 86_400_000;

export interface IdempotencyClaim {
  principal: string;
  verb: string;
  key: string;
  bodyHash: string;
  objectId: string;
}

/** The request that a live key stands for. */
export interface UsedKey {
  bodyHash: string;
  objectId: string;
  /** The stored reply, where the verb keeps one. */
  reply: string | null;
}

/**
 * Takes the key for a new object, before the object exists: a request with the same key waits for this transaction
 * meanwhile (spec/invariants Q4). Returns nothing when the key was free, else the request it stands for.
 */
export async function claimKey(tx: Tx, claim: IdempotencyClaim): Promise<UsedKey | undefined> {
  const taken = await first(
    tx,
    sql`INSERT INTO idempotency (principal, verb, key, body_hash, object_id, expires_at)
      VALUES (${claim.principal}, ${claim.verb}, ${claim.key}, ${claim.bodyHash}, ${claim.objectId},
        parley_now() + ${IDEMPOTENCY_MS})
      ON CONFLICT (principal, verb, key) DO UPDATE
        SET body_hash = excluded.body_hash, object_id = excluded.object_id, reply = NULL, expires_at = excluded.expires_at
        WHERE idempotency.expires_at <= parley_now()
      RETURNING object_id`,
  );
  return taken ? undefined : findKeyUse(tx, claim);
}

/**
 * Moves a live key from one object to a new one and returns nothing, or returns what it stands for now, because
 * somebody else moved it first.
 */
export async function moveKey(tx: Tx, claim: IdempotencyClaim, from: string): Promise<UsedKey | undefined> {
  const moved = await first(
    tx,
    sql`UPDATE idempotency
      SET object_id = ${claim.objectId}, body_hash = ${claim.bodyHash}, expires_at = parley_now() + ${IDEMPOTENCY_MS}
      WHERE principal = ${claim.principal} AND verb = ${claim.verb} AND key = ${claim.key} AND object_id = ${from}
      RETURNING object_id`,
  );
  return moved ? undefined : findKeyUse(tx, claim);
}

async function findKeyUse(tx: Tx, claim: IdempotencyClaim): Promise<UsedKey> {
  const row = await one<{ body_hash: string; object_id: string; reply: string | null }>(
    tx,
    sql`SELECT body_hash, object_id, reply FROM idempotency
      WHERE principal = ${claim.principal} AND verb = ${claim.verb} AND key = ${claim.key}`,
  );
  return { bodyHash: row.body_hash, objectId: row.object_id, reply: row.reply };
}

/** Keeps what was replied under a key taken in this transaction, and counts the key's day from `from`. */
export async function keepReply(tx: Tx, claim: IdempotencyClaim, reply: string | null, from: number): Promise<void> {
  await tx.all(sql`UPDATE idempotency SET reply = ${reply}, expires_at = ${from + IDEMPOTENCY_MS}
    WHERE principal = ${claim.principal} AND verb = ${claim.verb} AND key = ${claim.key}`);
}

/** The key stands for nothing any more, unless it was moved to another object meanwhile. */
export async function releaseKey(
  tx: Tx,
  { principal, verb, key, objectId }: Omit<IdempotencyClaim, "bodyHash">,
): Promise<void> {
  await tx.all(sql`DELETE FROM idempotency
    WHERE principal = ${principal} AND verb = ${verb} AND key = ${key} AND object_id = ${objectId}`);
}

/** Deletes the keys of a verb, except those of which the condition on principal and object is true. */
export const forgetKeys = (verb: string, isKept: (principal: Sql, objectId: Sql) => Sql): Sql =>
  sql`DELETE FROM idempotency AS k WHERE verb = ${verb} AND NOT ${isKept(sql`k.principal`, sql`k.object_id`)}`;

/** Deletes every key of a principal. */
export async function deleteKeysUnder(tx: Tx, principal: string): Promise<void> {
  await tx.all(sql`DELETE FROM idempotency WHERE principal = ${principal}`);
}

/**
 * Deletes up to `limit` keys whose day is over; true when there may be more. Of the two conditions the outer one is
 * judged again when a key was taken anew while this waited for its row.
 */
export async function deleteExpiredKeys(tx: Tx, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM idempotency WHERE (principal, verb, key) IN
      (SELECT principal, verb, key FROM idempotency WHERE expires_at <= (SELECT parley_now()) LIMIT ${limit})
      AND expires_at <= (SELECT parley_now()) RETURNING key`,
  );
  return rows.length === limit;
}
