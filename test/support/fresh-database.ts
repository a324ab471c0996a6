import { createHash, randomBytes } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { migrate } from "../../src/core/store/migrate.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { openSqlite } from "../../src/core/store/sqlite/sqlite.ts";
import { databaseUrl } from "./postgres.ts";

const STORE = fileURLToPath(new URL("../../src/core/store/", import.meta.url));

/** Returns the address of a new, empty database on the tests' PostgreSQL. */
export async function freshDatabase(): Promise<string> {
  const server = await databaseUrl();
  const name = `fresh_${randomBytes(8).toString("hex")}`;
  await onServer(server, (admin) => admin.query(`CREATE DATABASE ${name}`));
  return addressOf(server, name);
}

/** Returns the address of a new database that holds this program's schema and no rows yet. */
export async function migratedDatabase(): Promise<string> {
  const server = await databaseUrl();
  const template = await (migrated ??= migrateOnce(server));
  const name = `world_${randomBytes(8).toString("hex")}`;
  await onServer(server, async (admin) => {
    const { rows } = await admin.query<{ data_directory: string }>("SHOW data_directory");
    // A copy of the files is the cheapest there is, but for the syncs of a disk.
    const strategy = rows[0]?.data_directory.startsWith("/dev/shm/") ? "file_copy" : "wal_log";
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY ${strategy}`);
  });
  return addressOf(server, name);
}

let migratedBytes: Promise<Buffer> | undefined;

/** A new SQLite database is at the path, which holds this program's schema and no rows yet. */
export async function writeMigratedDatabase(path: string): Promise<void> {
  writeFileSync(path, await (migratedBytes ??= migrateSqlite()), { mode: 0o600 });
}

async function migrateSqlite(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "parley-migrated-"));
  const path = join(folder, "parley.db");
  try {
    const onFatal = (error: Error) => {
      throw error;
    };
    // At the beginning of time, before whatever clock goes on from there.
    const db = openSqlite({ path, clock: { now: () => 0 }, onFatal });
    await migrate(db);
    await db.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Deletes the database, even if clients are still connected to it. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await onServer(await databaseUrl(), (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
}

let migrated: Promise<string> | undefined;

/**
 * Returns the name of a database that was migrated once for every process that tests on this server: a copy of it is
 * there in a tenth of the time that all migrations take. Its name stands for their text.
 */
async function migrateOnce(server: string): Promise<string> {
  const hash = createHash("sha256");
  for (const file of globSync(["migrate.ts", "migrations/*.ts"], { cwd: STORE }).sort()) {
    hash.update(readFileSync(`${STORE}${file}`));
  }
  const name = `migrated_${hash.digest("hex").slice(0, 16)}`;
  await onServer(server, async (admin) => {
    await admin.query("SELECT pg_advisory_lock(hashtext($1))", [name]);
    const { rowCount } = await admin.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
    if (rowCount) return;
    await admin.query(`DROP DATABASE IF EXISTS ${name}_unfinished`);
    await admin.query(`CREATE DATABASE ${name}_unfinished`);
    const db = await openPostgres({ url: addressOf(server, `${name}_unfinished`), onError: () => {}, waitMs: 60_000 });
    await migrate(db);
    await db.close();
    await admin.query(`ALTER DATABASE ${name}_unfinished RENAME TO ${name}`);
  });
  return name;
}

function addressOf(server: string, name: string): string {
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}

/** Uses one connection to the server, and with it whatever locks it took. */
async function onServer(server: string, use: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  try {
    await use(admin);
  } finally {
    await admin.end();
  }
}
