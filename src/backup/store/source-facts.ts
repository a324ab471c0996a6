import type { Queryable } from "../../core/store/db.ts";
import { readSchemaNumber, SCHEMA_NUMBER } from "../../core/store/migrate.ts";
import { findSealed } from "../../core/store/sealed-secrets.ts";
import type { Keyring } from "../../lib/secrets/keyring.ts";
import { readTables } from "./tables.ts";

/**
 * The store can be carried away by this program: it is there, of this program's schema, and the key is its own.
 *
 * @throws {Error} one sentence for the operator
 */
export async function judgeSource(
  on: Queryable,
  { keyring, keyFile }: { keyring: Pick<Keyring, "open">; keyFile: string },
): Promise<void> {
  const tables = await readTables(on);
  if (!tables.some(({ name }) => name === "sealed_secrets")) throw new Error("There is no Parley database there.");
  const schema = await readSchemaNumber(on);
  if (schema !== SCHEMA_NUMBER) {
    const remedy = schema < SCHEMA_NUMBER ? "start this program's server on it once" : "use the Parley it is of";
    throw new Error(`The store has schema ${schema}, and this program knows ${SCHEMA_NUMBER}: ${remedy}.`);
  }
  const sealed = await findSealed(on);
  try {
    if (sealed) keyring.open(sealed.sealed, sealed.name);
  } catch {
    throw new Error(
      `${keyFile} is not the installation key of this database, which would be worth little without it; name that one with PARLEY_KEY_FILE.`,
    );
  }
}
