import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { databaseUrl } from "../support/postgres.ts";
import { runStatement, stopNode, urlOf } from "./node-process.ts";
import { plantedEnvironment } from "./plant-environment.ts";

/** Three servers, each a process of its own, on one new PostgreSQL database. */
export interface Nodes extends AsyncDisposable {
  urls: readonly string[];
  /** The address of their database. */
  database: string;
  /** A connection of the harness's own, to hold rows with. */
  control: pg.Client;
  /** The output of the servers to standard error. */
  complaints(): readonly string[];
}

/** The write limits the servers run with: small, so that the load reaches them. */
export const QUESTIONS_PER_HOUR = 30;
export const OPEN_QUESTIONS = 12;
export const ANSWERS_PER_HOUR = 30;

const COUNT = 3;
/**
 * The store's clock runs so many times as fast as the wall, so that questions of a minute meet their deadline while
 * they
 * are hot. The nodes' own clocks stay behind it, which reveals a decision by a node's clock.
 */
const SPEED = 30;
/** Two readings of the machine's clock, each cut to milliseconds, may differ by this. */
export const CLOCK_GRAIN_MS = 2;
const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const CLOCK_STARTED = Date.now();

/** Returns what the store's clock says at a moment of this machine's clock. */
export function storeTime(wall: number): number {
  return CLOCK_STARTED + (wall - CLOCK_STARTED) * SPEED;
}

/** Returns when this machine's clock shows what the store's will be at that moment. */
export function wallTime(store: number): number {
  return CLOCK_STARTED + (store - CLOCK_STARTED) / SPEED;
}

/** Starts the servers all at once, so that migration and installation key are raced for too. */
export async function startNodes(): Promise<Nodes> {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-race-"));
  const server = await databaseUrl();
  const name = `race_${randomBytes(6).toString("hex")}`;
  await runStatement(server, `CREATE DATABASE ${name}`);
  const database = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const control = new pg.Client({ connectionString: database });
  await control.connect();
  await control.query(`CREATE FUNCTION parley_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT ${CLOCK_STARTED} + (floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${CLOCK_STARTED}) * ${SPEED} $$`);

  const complaints: string[] = [];
  const servers = Array.from({ length: COUNT }, (_, i) => serve(database, dataDir, i, complaints));
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(({ child }) => stopNode(child)));
    await control.end();
    await runStatement(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const urls = await Promise.all(servers.map(({ url }) => url));
    return { urls, database, control, complaints: () => complaints, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw new Error(`the servers did not start: ${complaints.join("")}`, { cause: error });
  }
}

interface Started {
  child: ChildProcess;
  url: Promise<string>;
}

function serve(database: string, dataDir: string, number: number, complaints: string[]): Started {
  const child = spawn(process.execPath, [MAIN, "serve"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      ...plantedEnvironment(),
      HOME: dataDir,
      PARLEY_DATA_DIR: join(dataDir, String(number)),
      PARLEY_KEY_FILE: join(dataDir, "installation.key"),
      PARLEY_PORT: "0",
      PARLEY_LOG_LEVEL: "warn",
      PARLEY_LIMITS_LONG_POLLS: "1000",
      PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "1000000",
      PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "1000000",
      PARLEY_ASK_A_HUMAN_LIMITS_QUESTIONS_PER_HOUR: String(QUESTIONS_PER_HOUR),
      PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: String(OPEN_QUESTIONS),
      PARLEY_ASK_A_HUMAN_LIMITS_ANSWERS_PER_HOUR: String(ANSWERS_PER_HOUR),
      PARLEY_ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR: "1000000",
      PARLEY_ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR: "1000000",
      DATABASE_URL: database,
      // The results of this race must not depend on the speed of the machine. `freeze` tests the time limits.
      PARLEY_DATABASE_WAIT_MS: "30000",
    },
  });
  const complain = (chunk: unknown) => void complaints.push(`node ${number}: ${String(chunk).trimEnd()}\n`);
  child.stderr?.on("data", complain);
  const endWithUs = () => child.kill("SIGKILL");
  process.once("exit", endWithUs);
  child.once("exit", () => process.off("exit", endWithUs));
  return { child, url: urlOf(child, complain) };
}
