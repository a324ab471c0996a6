import type { Keyring } from "../../lib/secrets/keyring.ts";
import { type Queryable, first } from "./db.ts";
import { sql } from "./sql.ts";

/** Returns the secret of that name, or null. @throws when it was sealed under another installation key */
export async function findSecret(on: Queryable, keyring: Keyring, name: string): Promise<string | null> {
  const row = await first<{ sealed: string }>(on, sql`SELECT sealed FROM sealed_secrets WHERE name = ${name}`);
  return row ? keyring.open(row.sealed, name) : null;
}

/** The secret is stored, encrypted under the installation key, unless one of that name was there already. */
export async function insertSecretIfNew(on: Queryable, keyring: Keyring, name: string, secret: string): Promise<void> {
  const sealed = keyring.seal(secret, name);
  await on.all(
    sql`INSERT INTO sealed_secrets (name, sealed) VALUES (${name}, ${sealed}) ON CONFLICT (name) DO NOTHING`,
  );
}
