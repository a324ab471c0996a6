import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { countEntries } from "../../core/store/audit.ts";
import { DATABASE_FILE, FILE_MODE, FOLDER_MODE, HIGHWATER_FILE } from "../../core/store/data-dir.ts";
import { first, one, type Db } from "../../core/store/db.ts";
import type { Finding } from "./checks.ts";
import { readHighwater } from "../../core/store/highwater.ts";
import { readLastCommit } from "../../core/store/store-marks.ts";
import { readSchemaNumber, SCHEMA_NUMBER } from "../../core/store/migrate.ts";
import type { StoreAddress } from "../../core/store/open-store.ts";
import { raw, sql } from "../../core/store/sql.ts";

/** The findings about the engine and the machine, and the facts about both. */
export interface EngineReport {
  findings: Finding[];
  facts: Record<string, string | number>;
}

const HOUR_MS = 3_600_000;
const MEBIBYTE = 1_048_576;
const LEAST_FREE_BYTES = 100 * MEBIBYTE;

/** Examines the engine under the rows: schema, clock, durability, disk; the whole file too, unless `quick`. */
export async function examineEngine(db: Db, place: StoreAddress, nowMs: number, quick: boolean): Promise<EngineReport> {
  const facts: EngineReport["facts"] = { engine: db.describes };
  const findings: Finding[] = [];
  const add = (check: string, promise: string, offenders: string[]) => findings.push({ check, promise, offenders });

  const number = await readSchemaNumber(db);
  facts["schema"] = number;
  const schema = number === SCHEMA_NUMBER ? [] : [`schema ${number}, this program knows ${SCHEMA_NUMBER}`];
  add("D10", "the schema is this program's", schema);

  const { sealed, unsealed } = await countEntries(db);
  facts["record"] = `${sealed} entries in the chain, ${unsealed} not yet`;

  const { lastMs: last } = await readLastCommit(db);
  const behind = nowMs < last - HOUR_MS ? [`the clock is ${Math.round((last - nowMs) / 60_000)} minutes behind`] : [];
  add("T3", "the clock is not an hour behind the last commit", behind);

  if (db.dialect === "sqlite") {
    add("D7", "history is as long as it ever was", await historyProblems(db, place, facts));
    add("D6", "there is room on the disk", diskProblems(place, facts));
    if (!quick) findings.push(await examinePages(db));
  } else {
    add("D3", "PostgreSQL keeps what it acknowledges", await settingProblems(db, facts));
  }
  return { findings, facts };
}

/** Examines what stands beside the database: the folder and the installation key are their owner's alone. */
export function examineFiles({ dataDir, keyFile, databaseUrl }: StoreAddress): Finding {
  const offenders: string[] = [];
  if (databaseUrl === undefined) offenders.push(...modeProblems(dataDir, FOLDER_MODE));
  // A key that somebody else put there, such as a container's secret, has the mode they chose.
  const isOurs = dirname(keyFile) === dataDir || (existsSync(keyFile) && statSync(keyFile).uid === process.getuid?.());
  if (!existsSync(keyFile)) {
    // Beside PostgreSQL the key may be on the servers alone.
    if (databaseUrl === undefined) offenders.push(`${keyFile} is missing`);
  } else if (isOurs) offenders.push(...modeProblems(keyFile, FILE_MODE));
  return { check: "files", promise: "the data folder and the installation key are their owner's alone", offenders };
}

async function historyProblems(db: Db, { dataDir }: StoreAddress, facts: EngineReport["facts"]): Promise<string[]> {
  // The file first: the number in the database only grows meanwhile.
  const highest = readHighwater(join(dataDir, HIGHWATER_FILE));
  const { commitNo } = await readLastCommit(db);
  facts["commits"] = commitNo;
  if (highest === null) return [`${HIGHWATER_FILE} is damaged`];
  return highest > commitNo ? [`the database ends at commit ${commitNo}, ${highest} was once on disk`] : [];
}

function diskProblems({ dataDir }: StoreAddress, facts: EngineReport["facts"]): string[] {
  const { bavail, bsize } = statfsSync(dataDir);
  const wal = join(dataDir, `${DATABASE_FILE}-wal`);
  facts["wal_bytes"] = existsSync(wal) ? statSync(wal).size : 0;
  facts["free_bytes"] = bavail * bsize;
  return bavail * bsize < LEAST_FREE_BYTES ? [`${Math.floor((bavail * bsize) / MEBIBYTE)} MiB are free`] : [];
}

/** The check of a SQLite database's file. */
export const PAGES_SOUND = { check: "D4", promise: "every page and every reference of the database is sound" };

/** Reads the whole file of a SQLite database. @throws {DatabaseDamaged} where the engine gives up on it */
export async function examinePages(db: Db): Promise<Finding> {
  return { ...PAGES_SOUND, offenders: await fileProblems(db) };
}

async function fileProblems(db: Db): Promise<string[]> {
  const pages = await db.all<{ integrity_check: string }>(raw("PRAGMA integrity_check(20)"));
  const broken = pages.map((row) => row.integrity_check).filter((text) => text !== "ok");
  // References are in the pages, and cannot be read where those are broken.
  if (broken.length > 0) return broken;
  const references = await db.all<{ table: string; rowid: number | null }>(raw("PRAGMA foreign_key_check"));
  return references.map(({ table, rowid }) => `${table} row ${rowid ?? "?"} refers to nothing`);
}

async function settingProblems(db: Db, facts: EngineReport["facts"]): Promise<string[]> {
  const settings = await first<Record<string, string>>(
    db,
    sql`SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
      current_setting('synchronous_commit') AS synchronous_commit`,
  );
  const { bytes } = await one<{ bytes: number }>(db, sql`SELECT pg_database_size(current_database()) AS bytes`);
  facts["database_bytes"] = bytes;
  return Object.entries(settings ?? {}).flatMap(([name, value]) => (value === "off" ? [`${name} is off`] : []));
}

function modeProblems(path: string, mode: number): string[] {
  if (!existsSync(path)) return [`${path} is missing`];
  const found = statSync(path).mode & 0o777;
  return found === mode ? [] : [`${path} has mode ${found.toString(8)} instead of ${mode.toString(8)}`];
}
