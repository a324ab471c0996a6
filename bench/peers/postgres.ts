import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { startPostgres } from "../../test/support/postgres.ts";
import { cpuMsOf, rssOf, type Started } from "../servers.ts";
import { keepTo } from "./cores.ts";

/** A PostgreSQL of its own, as the part of a server that it is. */
export type Database = Pick<Started, "url" | "cpuMs" | "rssBytes" | "stop" | "kill">;

/** Starts a PostgreSQL with its files on disk, and keeps it to one core where one is given. */
export async function openDatabase(core?: number): Promise<Database> {
  const { url, stop } = await startPostgres();
  try {
    const main = await mainProcess(url);
    const processes = () => [main, ...childrenOf(main)];
    if (core !== undefined) for (const pid of processes()) keepTo(core, pid);
    const total = (of: (pid: number) => number) => processes().reduce((sum, pid) => sum + (of(pid) || 0), 0);
    return {
      url,
      cpuMs: () => total(cpuMsOf) + cpuMsOf(main, "ended children"),
      rssBytes: () => total(rssOf),
      stop,
      kill: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the process that starts the others. Its number is the first line of a file beside the data. */
async function mainProcess(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>("SHOW data_directory");
    const file = join(rows[0]?.data_directory ?? "", "postmaster.pid");
    return Number(readFileSync(file, "utf8").split("\n")[0]);
  } finally {
    await client.end();
  }
}

function childrenOf(pid: number): number[] {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const lists = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, "latin1"));
    return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
  } catch {
    return [];
  }
}
