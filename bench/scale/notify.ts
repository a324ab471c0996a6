/** The processor time of PostgreSQL for a transaction, and for the wake-up that follows it, by listening servers. */
import pg from "pg";
import { openDatabase } from "../peers/postgres.ts";

export interface NotifyFigures {
  /** No server listens and nobody is notified where it is 0. */
  servers: number;
  /** Processor time of PostgreSQL for each transaction, in microseconds. */
  cpuUs: number;
}

const SERVERS = [0, 1, 2, 4, 8] as const;
const MOST = 8;
/** As `src/core/store/notify.ts` names it. */
const CHANNEL = "parley_wake";

/**
 * Measures short transactions, each followed by one notification from a server that listens itself, as Parley sends it:
 * on its own connection, after the commit. The numbers of servers take turns.
 */
export async function measureNotify(
  { rounds, transactions }: { rounds: number; transactions: number },
  say: (line: string) => void,
): Promise<NotifyFigures[]> {
  const database = await openDatabase();
  try {
    const connect = async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      return client;
    };
    const writer = await connect();
    await writer.query("CREATE TABLE written (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)");
    await writer.query("INSERT INTO written VALUES (1, 0)");
    const servers: pg.Client[] = [];
    for (let i = 0; i < MOST; i += 1) servers.push(await connect());
    const spent = new Map<number, number>(SERVERS.map((count) => [count, 0]));

    const run = async (count: number, times: number): Promise<number> => {
      for (const [i, server] of servers.entries())
        await server.query(`${i < count ? "LISTEN" : "UNLISTEN"} ${CHANNEL}`);
      const before = database.cpuMs();
      for (let i = 0; i < times; i += 1) {
        await writer.query("UPDATE written SET n = n + 1 WHERE id = 1");
        if (count > 0) await servers[0]?.query("SELECT pg_notify($1, $2)", [CHANNEL, `question:q_${i}`]);
      }
      // The last ones have reached every server once each has answered.
      for (const server of servers) await server.query("SELECT 1");
      return database.cpuMs() - before;
    };
    for (const count of SERVERS) await run(count, 50);
    for (let round = 0; round < rounds; round += 1) {
      for (const count of round % 2 === 0 ? SERVERS : SERVERS.toReversed()) {
        spent.set(count, (spent.get(count) ?? 0) + (await run(count, transactions)));
      }
      say(`wake-ups: round ${round + 1} of ${rounds}`);
    }
    for (const client of [writer, ...servers]) await client.end();
    return SERVERS.map((count) => ({
      servers: count,
      cpuUs: ((spent.get(count) ?? Number.NaN) / (rounds * transactions)) * 1000,
    }));
  } finally {
    await database.stop();
  }
}
