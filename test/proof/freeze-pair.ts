import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { systemClock } from "../../src/lib/clock.ts";
import { idMaker } from "../../src/lib/id.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { openStore } from "../../src/core/store/open-store.ts";
import { createKey } from "../../src/access/create-key.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { databaseUrl } from "../support/postgres.ts";
import { runStatement, stopNode, urlOf } from "./node-process.ts";
import { plantedEnvironment } from "./plant-environment.ts";

/** Two servers, each a process of its own, on one new PostgreSQL database, with the settings they are shipped with. */
export interface Pair extends AsyncDisposable {
  urls: readonly [string, string];
  /** Keys of agents that answer themselves; the first is used on both servers. */
  agents: readonly string[];
  /** A key that puts jobs in line. */
  planner: string;
  /** A connection of the harness's own, to hold rows with. */
  control: pg.Client;
  /** Sends the first server a signal. */
  signal(signal: NodeJS.Signals): void;
  /** How many transactions of the first server stand open and do nothing. */
  openTransactions(): Promise<number>;
  /** How long the oldest entry outside the chain has been there, in ms. */
  oldestUnsealedMs(): Promise<number>;
  unsealed(): Promise<number>;
  /** How often each act of each call stands in the chain. */
  entries(): Promise<Map<string, number>>;
  /** Returns the promises that `parley doctor` finds broken. */
  examine(): Promise<string[]>;
}

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const AGENTS = 7;

/** Starts both, one after the other, with further settings in `env`. */
export async function openPair(env: Record<string, string> = {}): Promise<Pair> {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-freeze-"));
  const server = await databaseUrl();
  const name = `freeze_${randomBytes(6).toString("hex")}`;
  await runStatement(server, `CREATE DATABASE ${name}`);
  const database = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const started: ChildProcess[] = [];
  const control = new pg.Client({ connectionString: database });
  const close = async (): Promise<void> => {
    await Promise.all(started.map(stopNode));
    await control.end();
    await runStatement(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    rmSync(dataDir, { recursive: true, force: true });
  };

  try {
    await control.connect();
    const urls: string[] = [];
    for (const which of ["first", "second"]) {
      const child = serve(`${database}?application_name=${which}`, dataDir, which, env);
      started.push(child);
      urls.push(await urlOf(child));
    }
    const place = {
      dataDir,
      keyFile: join(dataDir, "installation.key"),
      databaseUrl: database,
      databaseWaitMs: 60_000,
    };
    const outside = { clock: systemClock, random: systemRandom, log: { warn() {} } };
    const store = await openStore(place, { ...outside, exclusive: false, onFatal: () => {} });
    const ctx = { ...store, random: systemRandom, newId: idMaker(systemRandom, () => Date.now()) };
    const agents: string[] = [];
    for (let i = 0; i < AGENTS; i += 1) {
      agents.push((await createKey(ctx, { name: `agent-${i}`, scope: "agent", selfRespond: true })).text);
    }
    const { text: planner } = await createKey(ctx, { name: "planner", scope: "assign" });
    const count = async (text: string): Promise<number> => Number((await control.query(text)).rows[0].n);

    return {
      urls: [urls[0] ?? "", urls[1] ?? ""],
      agents,
      planner,
      control,
      signal: (signal) => void started[0]?.kill(signal),
      openTransactions: () =>
        count(`SELECT count(*) AS n FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'first' AND state LIKE 'idle in transaction%'`),
      oldestUnsealedMs: () => count(`SELECT coalesce(parley_now() - min(at), 0) AS n FROM audit WHERE seq IS NULL`),
      unsealed: () => count(`SELECT count(*) AS n FROM audit WHERE seq IS NULL`),
      async entries() {
        const { rows } = await control.query<{ act: string; n: string }>(
          `SELECT action || ' ' || call_id AS act, count(*) AS n FROM audit WHERE seq IS NOT NULL GROUP BY 1`,
        );
        return new Map(rows.map(({ act, n }) => [act, Number(n)]));
      },
      async examine() {
        const findings = await examineStore(store, { quick: false });
        return findings
          .filter(({ offenders }) => offenders.length > 0)
          .map(({ check, promise, offenders }) => `${check}: not so that ${promise}: ${offenders.join(", ")}`);
      },
      async [Symbol.asyncDispose]() {
        await store.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts a server on the database, with the settings it is shipped with but for its limits. */
export function serve(database: string, dataDir: string, which: string, env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [MAIN, "serve"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      ...plantedEnvironment(),
      HOME: dataDir,
      PARLEY_DATA_DIR: join(dataDir, which),
      PARLEY_KEY_FILE: join(dataDir, "installation.key"),
      PARLEY_PORT: "0",
      PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "1000000",
      PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "1000000",
      // The replies show the effects of the freeze; the log is not needed.
      PARLEY_LOG_LEVEL: "silent",
      PARLEY_A2H_CREATES_PER_MINUTE: "1000000",
      PARLEY_DELIVERY_MESSAGES_PER_HOUR: "1000000",
      PARLEY_DELIVERY_RECIPIENTS_PER_HOUR: "1000000",
      PARLEY_RELAY_REQUESTS_PER_SECOND: "1000000",
      PARLEY_LIMITS_EDGE_PER_SECOND: "1000000",
      PARLEY_LIMITS_EDGE_BURST: "1000000",
      DATABASE_URL: database,
      ...env,
    },
  });
  const endWithUs = () => child.kill("SIGKILL");
  process.once("exit", endWithUs);
  child.once("exit", () => process.off("exit", endWithUs));
  return child;
}
