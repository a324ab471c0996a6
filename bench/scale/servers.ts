/** Approvals of one server and of two, on one PostgreSQL and one core, with an account of each microsecond. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { openApprovals, type DecisionLoad } from "../decision-load.ts";
import { median, runClosed } from "../load.ts";
import { divideCores } from "../peers/cores.ts";
import { type Database, openDatabase } from "../peers/postgres.ts";
import { createAgentKeys, type Started, startParley } from "../servers.ts";

/** The account of one second of the core, for each decision. */
export interface ServersFigures {
  servers: number;
  perSecond: number;
  /** Processor time of the servers, and of PostgreSQL, in microseconds. */
  serversUs: number;
  databaseUs: number;
  /** Transactions that PostgreSQL committed, and the bytes of its log. */
  commits: number;
  logBytes: number;
  /** Milliseconds from the answer to the waiter's reply, in the middle. */
  p50Ms: number;
}

const CLIENTS = 64;

interface Counters {
  commits: number;
  logBytes: number;
}

/**
 * Measures one server and two in turns. With two, every agent asks and waits at one of them, and its calls are decided at
 * the other, so that each answer crosses.
 */
export async function measureServers(
  { folder, rounds, ms }: { folder: string; rounds: number; ms: number },
  say: (line: string) => void,
): Promise<ServersFigures[]> {
  const core = divideCores()?.server;
  const database = await openDatabase(core);
  const servers: Started[] = [];
  try {
    const keyPlace = { dataDir: join(folder, "server-0"), databaseUrl: database.url };
    for (const name of ["server-0", "server-1"]) {
      mkdirSync(join(folder, name), { mode: 0o700 });
      const env = { PARLEY_KEY_FILE: join(keyPlace.dataDir, "installation.key") };
      servers.push(await startParley({ dataDir: join(folder, name), databaseUrl: database.url, core, env }));
    }
    const [one, other] = servers.map(({ url }) => url) as [string, string];
    const keys = createAgentKeys(keyPlace);
    const alone = openApprovals(one, CLIENTS, keys);
    const crossed = [openApprovals(one, CLIENTS / 2, keys, other), openApprovals(other, CLIENTS / 2, keys, one)];
    const found: ServersFigures[][] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      for (const [i, loads] of [[alone], crossed].entries()) {
        found[i]?.push(await measure(loads, { servers: servers.slice(0, loads.length), database, ms }));
      }
      say(`servers: round ${round + 1} of ${rounds}`);
    }
    for (const load of [alone, ...crossed]) load.close();
    return found.map(middleOf);
  } finally {
    for (const server of servers) await server.stop();
    await database.stop();
  }
}

async function measure(
  loads: readonly DecisionLoad[],
  { servers, database, ms }: { servers: readonly Started[]; database: Database; ms: number },
): Promise<ServersFigures> {
  const usedMs = () => servers.reduce((sum, server) => sum + server.cpuMs(), 0);
  await runLoads(loads, ms / 4);
  const before = { server: usedMs(), database: database.cpuMs(), ...(await countersOf(database)) };
  const latenciesMs = await runLoads(loads, ms);
  const after = { server: usedMs(), database: database.cpuMs(), ...(await countersOf(database)) };
  const count = latenciesMs.length;
  return {
    servers: loads.length,
    perSecond: (count / ms) * 1000,
    serversUs: ((after.server - before.server) * 1000) / count,
    databaseUs: ((after.database - before.database) * 1000) / count,
    commits: (after.commits - before.commits) / count,
    logBytes: (after.logBytes - before.logBytes) / count,
    p50Ms: median(latenciesMs),
  };
}

async function runLoads(loads: readonly DecisionLoad[], ms: number): Promise<number[]> {
  const clients = CLIENTS / loads.length;
  const samples = await Promise.all(loads.map(({ step }) => runClosed(clients, { warmMs: 0, ms }, step)));
  return samples.flatMap(({ latenciesMs }) => latenciesMs);
}

async function countersOf({ url }: Database): Promise<Counters> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<keyof Counters, string>>(
      `SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits,
        (SELECT wal_bytes FROM pg_stat_wal) AS "logBytes"`,
    );
    return { commits: Number(rows[0]?.commits), logBytes: Number(rows[0]?.logBytes) };
  } finally {
    await client.end();
  }
}

function middleOf(rounds: readonly ServersFigures[]): ServersFigures {
  const of = (member: keyof ServersFigures) => median(rounds.map((one) => one[member]));
  return {
    servers: of("servers"),
    perSecond: of("perSecond"),
    serversUs: of("serversUs"),
    databaseUs: of("databaseUs"),
    commits: of("commits"),
    logBytes: of("logBytes"),
    p50Ms: of("p50Ms"),
  };
}
