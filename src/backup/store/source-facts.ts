import type { Queryable } from "../../core/store/db.ts";
import { readSchemaNumber, SCHEMA_NUMBER } from "../../core/store/migrate.ts";
import { findSealed } from "../../core/store/sealed-secrets.ts";
import type { Keyring } from "../../lib/secrets/keyring.ts";
import { readTables } from "./tables.ts";

/**
 * The store can be carried away by this program: it is there, of this program's schema or an older one, and the key is
 * its own. Returns its schema.
 *
 * @throws {Error} one sentence for the operator
 */
export async function judgeSource(
  on: Queryable,
  { keyring, keyFile }: { keyring: Pick<Keyring, "open">; keyFile: string },
): Promise<number> {
  const tables = await readTables(on);
  if (!tables.some(({ name }) => name === "sealed_secrets")) throw new Error("There is no Parley database there.");
  const schema = await readSchemaNumber(on);
  if (schema > SCHEMA_NUMBER) {
    throw new Error(
      `The store has schema ${schema}, and this program knows ${SCHEMA_NUMBER}: use the Parley it is of.`,
    );
  }
  const sealed = await findSealed(on);
  try {
    if (sealed) keyring.open(sealed.sealed, sealed.name);
  } catch {
    throw new Error(
      `${keyFile} is not the installation key of this database, which would be worth little without it; name that one with PARLEY_KEY_FILE.`,
    );
  }
  return schema;
}

/** As `judgeSource`, for what knows the tables of this program's schema alone. */
export async function judgeNewestSource(...source: Parameters<typeof judgeSource>): Promise<void> {
  const schema = await judgeSource(...source);
  if (schema === SCHEMA_NUMBER) return;
  throw new Error(
    `The store has schema ${schema}, and this program knows ${SCHEMA_NUMBER}: start this program's server on it once.`,
  );
}
