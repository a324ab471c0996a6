import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { memory } from "../support/memory.ts";
import { reservePort } from "../support/ports.ts";
import { findPrograms, NOBODY } from "../support/postgres.ts";

/** A primary and its standby, by PostgreSQL's own programs. */
export interface Cluster extends AsyncDisposable {
  /** The address with both hosts. */
  url: string;
  /** Runs one statement on the primary. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Commits wait for the standby, or do not. */
  setSynchronous(value: boolean): Promise<void>;
  /** The standby gets nothing from the primary any more. */
  cutStandby(): Promise<void>;
  /** The primary ends at once: killed, or in the mode `immediate`. Resolves when it is gone. */
  killPrimary(how: "SIGKILL" | "immediate"): Promise<void>;
  /** The standby becomes the primary, and commits wait for nobody. */
  promote(): Promise<void>;
  /** The former primary becomes the standby, by a copy of the primary's files, and commits wait for it. */
  rebuildStandby(): Promise<void>;
}

interface Machine {
  data: string;
  port: number;
  log: string;
}

const run = promisify(execFile);

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  wal_level: "replica",
  hot_standby: "on",
  // Between the copy and the start of a standby.
  wal_keep_size: "512MB",
  // Neither a standby nor a primary waits long for the other.
  wal_retrieve_retry_interval: "100ms",
  wal_receiver_timeout: "5s",
};
const REACHED_WITHIN_MS = 30_000;

export async function openCluster(): Promise<Cluster> {
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const directory = mkdtempSync(join(memory() ?? tmpdir(), "parley-promote-"));
  const passwordFile = join(directory, "password");
  const password = randomBytes(16).toString("hex");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user.uid) for (const path of [directory, passwordFile]) chownSync(path, user.uid, user.gid);
  const programs = await findPrograms(directory, user.uid !== undefined);
  const machines = await Promise.all(
    ["a", "b"].map(async (name): Promise<Machine> => {
      return { data: join(directory, name), port: await reservePort(), log: join(directory, `${name}.log`) };
    }),
  );
  let [primary, standby] = machines as [Machine, Machine];
  // However this process ends, both end with it.
  const keeper = spawn(
    "/bin/sh",
    [
      "-c",
      'cat; for d in "$1/a" "$1/b"; do "$0" stop -D "$d" -m immediate; done; cd /; rm -rf "$1"',
      programs.pgCtl,
      directory,
    ],
    { ...user, cwd: directory, detached: true, stdio: ["pipe", "ignore", "ignore"] },
  );
  const gone = once(keeper, "exit");

  const addressOf = ({ port }: Machine) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const pgCtl = (args: readonly string[]) => run(programs.pgCtl, args, { ...user, cwd: directory });

  async function start(machine: Machine, primaryPort?: number): Promise<void> {
    const from =
      primaryPort && `host=127.0.0.1 port=${primaryPort} user=postgres password=${password} application_name=standby`;
    const settings = {
      ...SETTINGS,
      cluster_name: nameOf(machine),
      port: machine.port,
      ...(from && { primary_conninfo: from }),
    };
    const file = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    writeFileSync(join(machine.data, "postgresql.auto.conf"), file.join(""));
    if (user.uid) chownSync(join(machine.data, "postgresql.auto.conf"), user.uid, user.gid);
    await pgCtl(["start", "--wait", "--pgdata", machine.data, "--log", machine.log]).catch((error: unknown) => {
      throw new Error(`PostgreSQL did not start: ${readFileSync(machine.log, "utf8").slice(-2000)}`, { cause: error });
    });
  }

  async function onMachine<T>(machine: Machine, use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: addressOf(machine) });
    client.on("error", () => {});
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  }

  const query = (machine: Machine, text: string) =>
    onMachine(machine, async (client) => (await client.query<Record<string, unknown>>(text)).rows);

  async function reach(what: string, isReached: () => Promise<boolean>): Promise<void> {
    const late = performance.now() + REACHED_WITHIN_MS;
    while (!(await isReached())) {
      if (performance.now() > late) throw new Error(`never came: ${what}`);
    }
  }

  async function setSynchronous(value: boolean): Promise<void> {
    await query(primary, `ALTER SYSTEM SET synchronous_standby_names = '${value ? "standby" : ""}'`);
    await query(primary, "SELECT pg_reload_conf()");
    if (!value) return;
    await reach("a synchronous standby", async () => {
      const rows = await query(
        primary,
        "SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'",
      );
      return rows.length > 0;
    });
    // A commit that waited for the standby: it has everything from before, too.
    await query(primary, "SELECT pg_logical_emit_message(true, 'parley', 'reached')");
  }

  /** The files are copied while the primary runs, as `pg_basebackup` would. */
  async function copyFiles(): Promise<void> {
    rmSync(standby.data, { recursive: true, force: true });
    await onMachine(primary, async (client) => {
      await client.query("SELECT pg_backup_start('standby', fast => true)");
      // A file that is deleted meanwhile is no loss: the log, which is kept, has the change.
      await run("cp", ["-a", primary.data, standby.data], user).catch(() => {});
      const { rows } = await client.query<{ labelfile: string }>(
        "SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)",
      );
      writeFileSync(join(standby.data, "backup_label"), rows[0]?.labelfile ?? "");
    });
    writeFileSync(join(standby.data, "standby.signal"), "");
    rmSync(join(standby.data, "postmaster.pid"), { force: true });
    const made = ["backup_label", "standby.signal"].map((name) => join(standby.data, name));
    if (user.uid) for (const path of made) chownSync(path, user.uid, user.gid);
  }

  async function rebuildStandby(): Promise<void> {
    await copyFiles();
    await start(standby, primary.port);
    await setSynchronous(true);
  }

  const close = async (): Promise<void> => {
    keeper.stdin.end();
    await gone;
    rmSync(directory, { recursive: true, force: true });
  };

  try {
    const cluster = [`--pgdata=${primary.data}`, "--username=postgres", `--pwfile=${passwordFile}`, "--auth=password"];
    await run(programs.initdb, [...cluster, "--no-sync", "--encoding=UTF8", "--locale=C"], { ...user, cwd: directory });
    await start(primary);
    await rebuildStandby();
  } catch (error) {
    await close();
    throw error;
  }
  keeper.unref();

  const ports = machines.map(({ port }) => `127.0.0.1:${port}`).join(",");
  return {
    url: `postgres://postgres:${password}@${ports}/postgres?target_session_attrs=read-write`,
    query: (text) => query(primary, text),
    setSynchronous,
    async cutStandby() {
      await query(standby, "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'");
      await query(standby, "SELECT pg_reload_conf()");
      await reach("the standby is cut off", async () => {
        return (await query(primary, "SELECT FROM pg_stat_replication")).length === 0;
      });
    },
    async killPrimary(how) {
      if (how === "immediate") {
        await pgCtl(["stop", "--mode=immediate", "--pgdata", primary.data]);
        return;
      }
      const [pid] = readFileSync(join(primary.data, "postmaster.pid"), "utf8").split("\n");
      process.kill(Number(pid), "SIGKILL");
      // Its processes end by themselves; one that is amid a statement ends that first.
      await reach("the primary is gone", async () => {
        const { stdout } = await run("ps", ["-A", "-o", "args="]);
        return !stdout.includes(primary.data) && !stdout.includes(`postgres: ${nameOf(primary)}`);
      });
    },
    async promote() {
      await pgCtl(["promote", "--wait", "--pgdata", standby.data]);
      [primary, standby] = [standby, primary];
    },
    rebuildStandby,
    async [Symbol.asyncDispose]() {
      keeper.ref();
      await close();
    },
  };
}

/** The name that the processes of a machine show. */
const nameOf = ({ port }: Machine): string => `promote-${port}`;
