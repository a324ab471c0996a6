import { first, one, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** How long a key stands for the task it submitted. */
const KEPT_MS = 86_400_000;

/** A submission that may come again. */
export interface TaskClaim {
  /** Whose key it is: a hash of the credential. */
  keyHash: string;
  repo: string;
  key: string;
  bodyHash: string;
  id: string;
}

/**
 * Takes the key for a submission. A concurrent submission with the same key waits for this transaction. Returns
 * undefined if the key was free, else the hash of the body it stands for.
 */
export async function claimTaskKey(tx: Tx, claim: TaskClaim): Promise<string | undefined> {
  const { keyHash, repo, key, bodyHash, id } = claim;
  const taken = await first(
    tx,
    sql`INSERT INTO task_idempotency (key_hash, repo, idem_key, body_hash, id, at)
      VALUES (${keyHash}, ${repo}, ${key}, ${bodyHash}, ${id}, (SELECT parley_now()))
      ON CONFLICT (key_hash, repo, idem_key) DO UPDATE
        SET body_hash = excluded.body_hash, id = excluded.id, at = excluded.at
        WHERE task_idempotency.at <= (SELECT parley_now()) - ${KEPT_MS}
      RETURNING id`,
  );
  if (taken) return undefined;
  const row = await one<{ body_hash: string }>(
    tx,
    sql`SELECT body_hash FROM task_idempotency WHERE key_hash = ${keyHash} AND repo = ${repo} AND idem_key = ${key}`,
  );
  return row.body_hash;
}

/** Deletes keys that stand for nothing any more, so many at a time; returns whether there may be more. */
export async function deleteOldTaskKeys(tx: Tx, limit: number): Promise<boolean> {
  const gone = await tx.all(
    sql`DELETE FROM task_idempotency WHERE (key_hash, repo, idem_key) IN
      (SELECT key_hash, repo, idem_key FROM task_idempotency WHERE at <= (SELECT parley_now()) - ${KEPT_MS}
        ORDER BY at LIMIT ${limit}) RETURNING id`,
  );
  return gone.length === limit;
}
