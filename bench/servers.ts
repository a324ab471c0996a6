import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A server in a process of its own. */
export interface Started {
  url: string;
  /** Processor time it has used so far, in ms; unknown on some systems. */
  cpuMs(): number;
  /** Memory it holds now, in bytes; unknown on some systems. */
  rssBytes(): number;
  stop(): Promise<void>;
  /** Ends it at once, with SIGKILL. */
  kill(): Promise<void>;
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const READY_WITHIN_MS = 120_000;

/** Every limit is out of the way: the work is measured, not the refusal. */
const LIMITS = [
  "ASK_A_HUMAN_LIMITS_QUESTIONS_PER_HOUR",
  "ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS",
  "ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR",
  "ASK_A_HUMAN_LIMITS_ANSWERS_PER_HOUR",
  "ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR",
  "LIMITS_LONG_POLLS",
  "LIMITS_ANSWERS_PER_NETWORK_PER_HOUR",
  "LIMITS_NEW_PARTICIPANTS_PER_HOUR",
  "LIMITS_STREAMS",
  "RELAY_REQUESTS_PER_SECOND",
  "RELAY_PENDING_PER_JOB",
  "RELAY_PENDING_PER_AGENT",
  "A2H_CREATES_PER_MINUTE",
  "A2H_READS_PER_MINUTE",
];

/** Returns the raised limits that the settings of a tree have: an older one refuses those that it does not know. */
function limitsRaisedIn(root: string): Record<string, string> {
  const files = globSync(["src/settings*.ts", "src/config.ts", "src/config/*.ts", "src/server/config.ts"], { cwd: root });
  const settings = files.map((path) => readFileSync(join(root, path), "utf8")).join("\n");
  return Object.fromEntries(
    LIMITS.filter((name) => settings.includes(memberOf(name))).map((name) => [`PARLEY_${name}`, "1000000000"]),
  );
}

/** `LIMITS_LONG_POLLS` is `longPolls` among the settings of its section. */
function memberOf(name: string): string {
  const [first = "", ...more] = name
    .replace(/^(ASK_A_HUMAN_LIMITS|LIMITS|RELAY|A2H)_/, "")
    .toLowerCase()
    .split("_");
  return first + more.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Starts the server as it is shipped, on a data directory and, where given, a PostgreSQL. */
export function startParley(options: {
  dataDir: string;
  /** The tree whose server is started; this one's where it is missing. */
  root?: string;
  databaseUrl?: string;
  profileDir?: string;
  /** Further environment, such as the key of a model. */
  env?: Readonly<Record<string, string>>;
}): Promise<Started> {
  const profile = options.profileDir ? ["--cpu-prof", `--cpu-prof-dir=${options.profileDir}`] : [];
  const { root = file("..") } = options;
  return start([...profile, join(root, "src", "main.ts"), "serve"], {
    HOME: options.dataDir,
    PATH: process.env["PATH"],
    PARLEY_DATA_DIR: options.dataDir,
    PARLEY_PORT: "0",
    ...limitsRaisedIn(root),
    ...options.env,
    ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
  });
}

/** Starts the floor of `floor.ts` on a folder. */
export function startFloor(folder: string): Promise<Started> {
  return start([file("./floor.ts"), folder], process.env);
}

/** Starts the bare server in one of its modes. */
export function startBaseline(mode: "hello" | "each" | "group" | "postgres", place = ""): Promise<Started> {
  return start([file("./baseline.ts"), mode, place], process.env);
}

async function start(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Started> {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));

  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`no server after ${READY_WITHIN_MS / 1000} s: ${said}`)),
      READY_WITHIN_MS,
    );
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    let heard = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      heard += chunk;
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(heard) ?? [];
      if (found === undefined) return;
      clearTimeout(late);
      resolve(found);
    });
  });
  child.once("exit", (code) => {
    if (code) console.error(`a server under test ended with ${code}: ${said}`);
  });

  return {
    url,
    cpuMs: () => cpuMsOf(child.pid),
    rssBytes: () => rssOf(child.pid),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
}

const TICK_MS = 10;

/** Linux tells in /proc, in ticks of 10 ms: time in the program and time in the kernel on its behalf. */
function cpuMsOf(pid: number | undefined): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return Number.NaN;
  const fields = readFileSync(path, "latin1").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function rssOf(pid: number | undefined): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return Number.NaN;
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(path, "latin1"))?.[1]) * 1024;
}
