import type { Keyring } from "../../lib/secrets/keyring.ts";
import { first, type Queryable, type Tx } from "./db.ts";
import { sql } from "./sql.ts";

/** Returns the secret of that name, or null. @throws when it was sealed under another installation key */
export async function findSecret(on: Queryable, keyring: Keyring, name: string): Promise<string | null> {
  const row = await first<{ sealed: string }>(on, sql`SELECT sealed FROM sealed_secrets WHERE name = ${name}`);
  return row ? keyring.open(row.sealed, name) : null;
}

/** Nobody else reads or writes a secret while this transaction of PostgreSQL lasts. */
export async function lockSecrets(tx: Tx): Promise<void> {
  await tx.all(sql`LOCK TABLE sealed_secrets IN ACCESS EXCLUSIVE MODE`);
}

/** Returns a secret as it is sealed, by which a key shows whether it is this store's; nothing before the first start. */
export function findSealed(on: Queryable): Promise<{ name: string; sealed: string } | undefined> {
  return first(on, sql`SELECT name, sealed FROM sealed_secrets LIMIT 1`);
}

/** The secret is stored, encrypted under the installation key, unless one of that name was there already. */
export async function insertSecretIfNew(on: Queryable, keyring: Keyring, name: string, secret: string): Promise<void> {
  const sealed = keyring.seal(secret, name);
  await on.all(
    sql`INSERT INTO sealed_secrets (name, sealed) VALUES (${name}, ${sealed}) ON CONFLICT (name) DO NOTHING`,
  );
}
