import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { loadConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { examineFiles } from "../../src/doctor/store/engine.ts";
import { openToExamine } from "../../src/core/store/open-store.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { greetingsIn, messagesOf } from "../support/log-lines.ts";
import { databaseUrl } from "../support/postgres.ts";
import type { DatabaseName } from "../support/world.ts";
import type { ReportedClock } from "./clock-told.ts";
import { plantedEnvironment } from "./plant-environment.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = join(ROOT, "src/main.ts");
const PRELOAD = join(ROOT, "test/proof/kill-at-point.ts");
const START_WITHIN_MS = 60_000;

/** No limit is in the way, and what is settled is kept for a day. */
const SETTINGS = {
  PARLEY_LOG_LEVEL: "error",
  // The machine may be slow; `freeze` looks at what happens in time.
  PARLEY_DATABASE_WAIT_MS: "30000",
  PARLEY_ASK_A_HUMAN_POINTS_DAILY_CAP: "1000000000",
  PARLEY_ASK_A_HUMAN_RETENTION_CLOSED_DAYS: "1",
  PARLEY_ASK_A_HUMAN_RETENTION_EXPIRED_DAYS: "1",
  PARLEY_LIMITS_LONG_POLLS: "1000",
  PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "1000000",
  PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "1000000",
  PARLEY_LIMITS_STREAMS: "1000",
  ...Object.fromEntries(
    ["QUESTIONS_PER_HOUR", "OPEN_QUESTIONS", "AGENT_READS_PER_HOUR", "ANSWERS_PER_HOUR", "HUMAN_READS_PER_HOUR"].map(
      (name) => [`PARLEY_ASK_A_HUMAN_LIMITS_${name}`, "1000000000"],
    ),
  ),
};

/** Where a process of the server came to an end, and how. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The output of the process. */
  told: string;
}

/** The shipped server as a process. */
export interface Process {
  readonly pid: number;
  /** From being started to answering at its address. */
  readonly readyMs: number;
  /** When it was ready, on the site's clock. */
  readonly readyAt: number;
  readonly url: string;
  /** The output of the process besides its address, until now. */
  readonly told: string;
  readonly ended: Promise<Ended>;
  signal(signal: NodeJS.Signals): void;
}

export interface StartOptions {
  /** The point at which it is to die, and at which time of passing it. */
  at?: { point: string; hit: number };
  /** Settings of this one server, where several are on the same data. */
  env?: Readonly<Record<string, string>>;
  /** Further flags of `parley serve`. */
  flags?: readonly string[];
}

/** A place for data, and the server that is started on it again and again. */
export interface Site extends AsyncDisposable {
  readonly on: DatabaseName;
  readonly dataDir: string;
  /** Runs another command beside the server and returns what it printed. */
  run(args: readonly string[]): Promise<string>;
  /** Starts a server; returns how it ended when it did so before it was ready. */
  start(options?: StartOptions): Promise<Process | Ended>;
  /** Lets time pass, as if the machine had been off or asleep; its wall clock is set by `wallMs` in the same moment. */
  sleepFor(ms: number, more?: { wallMs?: number }): Promise<void>;
  /** Sets the wall clock of the machine forward, or back, for the servers that run and for every later start. */
  stepWall(ms: number): Promise<void>;
  /** The machine was off: its uptime says nothing any more to servers that are started later. */
  reboot(): void;
  /** The time of the site's clock. */
  now(): number;
  /** Runs one statement on the database itself, past the server. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Returns the promises that `parley doctor` finds broken. */
  examine(): Promise<string[]>;
}

export const isRunning = (outcome: Process | Ended): outcome is Process => "url" in outcome;

/** Returns every point that the source marks. */
export function listPoints(): string[] {
  const sources = globSync(join(ROOT, "src/**/*.ts")).map((path) => readFileSync(path, "utf8"));
  const names = sources.flatMap((source) =>
    [...source.matchAll(/\/\/ point: (\S+)$/gm)].map((match) => match[1] ?? ""),
  );
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new Error(`two lines are marked as the point ${twice}`);
  return names.sort();
}

/** An empty data directory, with a database of its own where that is PostgreSQL's. */
export async function openSite(on: DatabaseName, more: Readonly<Record<string, string>> = {}): Promise<Site> {
  const home = mkdtempSync(join(tmpdir(), "parley-kill-"));
  const dataDir = join(home, "data");
  const database = on === "postgres" ? await openDatabase() : null;
  const running = new Set<ChildProcess>();
  // A harness that breaks off ends its process without leaving this site.
  const endAll = (): void => running.forEach((child) => child.kill("SIGKILL"));
  process.on("exit", endAll);
  const clock: ReportedClock = { aheadMs: 0, wallMs: 0 };
  let boots = 1;
  const boot = () => `${home} ${boots}`;
  const tellClock = () => Promise.all([...running].map((child) => tell(child, clock)));

  const settings = (): Record<string, string> => ({
    ...SETTINGS,
    HOME: home,
    PATH: process.env["PATH"] ?? "",
    TZ: "UTC",
    PARLEY_DATA_DIR: dataDir,
    PARLEY_PORT: "0",
    ...(database && { DATABASE_URL: database.url }),
    ...more,
  });

  return {
    on,
    dataDir,
    now: () => Date.now() + clock.aheadMs,
    async sleepFor(ms, { wallMs = 0 } = {}) {
      clock.aheadMs += Math.round(ms);
      clock.wallMs += wallMs;
      await database?.query(`UPDATE ahead SET ms = ${clock.aheadMs}`);
      await tellClock();
    },
    async stepWall(ms) {
      clock.wallMs += ms;
      await tellClock();
    },
    reboot: () => void (boots += 1),
    async query(text) {
      if (database) return database.query(text);
      const connection = new DatabaseSync(join(dataDir, "parley.db"), { timeout: 5000 });
      try {
        return connection.prepare(text).all();
      } finally {
        connection.close();
      }
    },
    async examine() {
      const config = loadConfig({ env: settings() });
      const { now, uptime } = systemClock;
      const { aheadMs, wallMs } = clock;
      const db = await openToExamine(config, {
        ...systemClock,
        boot: boot(),
        now: () => now() + aheadMs + wallMs,
        uptime: () => uptime() + aheadMs,
      });
      try {
        const findings = [...(await examineStore({ db }, { quick: false })), examineFiles(config)];
        return findings
          .filter(({ offenders }) => offenders.length > 0)
          .map(({ check, promise, offenders }) => `doctor: ${check}: not so that ${promise}: ${offenders.join(", ")}`);
      } finally {
        await db.close();
      }
    },
    async run(args) {
      const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args], { cwd: home, env: settings() });
      return stdout.trim();
    },
    async start({ at, env, flags = [] } = {}) {
      const begun = performance.now();
      const child = spawn(process.execPath, ["--import", PRELOAD, MAIN, "serve", ...flags], {
        cwd: home,
        env: {
          ...settings(),
          ...env,
          ...plantedEnvironment(),
          PROOF_CLOCK_AHEAD_MS: String(clock.aheadMs),
          PROOF_CLOCK_WALL_MS: String(clock.wallMs),
          PROOF_CLOCK_BOOT: boot(),
          ...(at && { PROOF_POINT: at.point, PROOF_POINT_HIT: String(at.hit) }),
        },
        stdio: ["ignore", "pipe", "pipe", "ipc"],
      });
      running.add(child);
      const ended = once(child, "close").then(([code, signal]): Ended => {
        running.delete(child);
        return { code: code as number | null, signal: signal as NodeJS.Signals | null, told: messagesOf(told) };
      });
      let told = "";
      child.stderr?.setEncoding("utf8").on("data", (text: string) => (told += text));
      const ready = addressOf(child);
      const late = setTimeout(() => child.kill("SIGKILL"), START_WITHIN_MS);
      const outcome = await Promise.race([ready, ended]);
      clearTimeout(late);
      if (typeof outcome !== "string") return outcome;
      return {
        pid: child.pid ?? 0,
        readyMs: performance.now() - begun,
        readyAt: Date.now() + clock.aheadMs,
        url: outcome,
        get told() {
          return messagesOf(told);
        },
        ended,
        signal: (signal) => void child.kill(signal),
      };
    },
    async [Symbol.asyncDispose]() {
      const gone = [...running].map((child) => once(child, "close"));
      endAll();
      await Promise.all(gone);
      process.off("exit", endAll);
      await database?.drop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Resolves once the server uses these clocks, or has ended. */
async function tell(child: ChildProcess, clock: ReportedClock): Promise<void> {
  if (!child.connected) return;
  const over = new AbortController();
  const read = ["message", "disconnect"].map((event) => once(child, event, { signal: over.signal }).catch(() => {}));
  child.send(clock);
  await Promise.race(read);
  over.abort();
}

/** Resolves with the server's address once it listens; never, when it does not. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      const [greeting] = greetingsIn(text);
      if (greeting) resolve(greeting.url);
    });
  });
}

/** A database of its own in the shared PostgreSQL, whose clock can be put ahead. */
async function openDatabase() {
  const server = await databaseUrl();
  const name = `kill_${randomBytes(6).toString("hex")}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const client = new pg.Pool({ connectionString: url, max: 4 });
  // A connection that nobody uses is ended with its database.
  client.on("error", () => {});
  await client.query(`CREATE TABLE ahead (ms bigint NOT NULL)`);
  await client.query(`INSERT INTO ahead VALUES (0)`);
  await client.query(`CREATE FUNCTION parley_now() RETURNS bigint LANGUAGE sql VOLATILE
    AS 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + (SELECT ms FROM ahead)'`);
  return {
    url,
    query: async (text: string) => (await client.query<Record<string, unknown>>(text)).rows,
    async drop() {
      await client.end();
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}
