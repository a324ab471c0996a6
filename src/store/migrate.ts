import { raw, sql } from "./sql.ts";
import type { Db, Tx } from "./db.ts";
import { crowd } from "./migrations/0001-crowd.ts";
import { waits } from "./migrations/0002-waits.ts";
import { addressed } from "./migrations/0003-addressed.ts";
import { notices } from "./migrations/0004-notices.ts";
import { left } from "./migrations/0005-left.ts";
import { addressedWaits } from "./migrations/0006-addressed-waits.ts";
import { phones } from "./migrations/0007-phones.ts";
import { fallbacks } from "./migrations/0008-fallbacks.ts";
import { webhooks } from "./migrations/0009-webhooks.ts";
import { questions } from "./migrations/0010-questions.ts";
import { relay } from "./migrations/0011-relay.ts";
import { conversations } from "./migrations/0012-conversations.ts";
import { keyUsed } from "./migrations/0013-key-used.ts";
import { policy } from "./migrations/0014-policy.ts";
import { runner } from "./migrations/0015-runner.ts";
import { longTargets } from "./migrations/0016-long-targets.ts";
import { heardSwept } from "./migrations/0017-heard-swept.ts";
import { relayNewest } from "./migrations/0018-relay-newest.ts";
import { assignment } from "./migrations/0019-assignment.ts";
import { grantsOfCalls } from "./migrations/0021-grants-of-calls.ts";
import { workshops } from "./migrations/0022-workshops.ts";
import { standings } from "./migrations/0020-standings.ts";
import type { Migration, SchemaWords } from "./migrations/migration.ts";

const MIGRATIONS: readonly Migration[] = [
  crowd,
  waits,
  addressed,
  notices,
  left,
  addressedWaits,
  phones,
  fallbacks,
  webhooks,
  questions,
  relay,
  conversations,
  keyUsed,
  policy,
  runner,
  longTargets,
  heardSwept,
  relayNewest,
  assignment,
  standings,
  grantsOfCalls,
  workshops,
];

/** The schema this program reads and writes. */
export const SCHEMA_NUMBER = MIGRATIONS.at(-1)?.number ?? 0;

const WORDS: Record<Db["dialect"], SchemaWords> = {
  sqlite: { integer: "INTEGER", text: "TEXT", strict: " STRICT" },
  postgres: { integer: "BIGINT", text: `TEXT COLLATE "C"`, strict: "" },
};

/**
 * Brings the schema up to this program's, each step in a transaction of its own and under a lock, so that a step that
 * was stopped halfway never happened and two servers that start at once do not both take it.
 *
 * @throws {Error} one sentence, when the schema is newer than this program
 */
export async function migrate(db: Db): Promise<void> {
  await db.transact(async (tx) => {
    await lockSchema(tx);
    await tx.all(raw(`CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)`));
    if (tx.dialect === "postgres") await tx.all(raw(POSTGRES_NOW));
  });
  for (const migration of MIGRATIONS) {
    await db.transact(async (tx) => {
      await lockSchema(tx);
      const taken = await tx.all<{ number: number }>(sql`SELECT number FROM migrations`);
      const newest = Math.max(0, ...taken.map(({ number }) => number));
      if (newest > SCHEMA_NUMBER) {
        throw new Error(`The data was written by a newer Parley (schema ${newest}, this one knows ${SCHEMA_NUMBER}).`);
      }
      if (newest >= migration.number) return;
      for (const statement of migration.statements(WORDS[tx.dialect])) {
        await tx.all(raw(statement));
        // point: migration-between-statements
      }
      await tx.all(sql`INSERT INTO migrations (number, name) VALUES (${migration.number}, ${migration.name})`);
      // point: migration-before-commit
    });
  }
}

/** The store's clock on PostgreSQL; made once, so that a test's own stays in place. SQLite's is registered on opening. */
const POSTGRES_NOW = `DO $make$ BEGIN
  IF to_regprocedure('parley_now()') IS NULL THEN
    CREATE FUNCTION parley_now() RETURNS bigint LANGUAGE sql VOLATILE
      AS $body$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $body$;
  END IF;
END $make$`;

async function lockSchema(tx: Tx): Promise<void> {
  // SQLite holds its only write lock already.
  if (tx.dialect === "postgres") await tx.all(sql`SELECT pg_advisory_xact_lock(7273910)::text`);
}
