import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
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
  const files = globSync(["src/settings*.ts", "src/config.ts", "src/config/*.ts", "src/server/config.ts"], {
    cwd: root,
  });
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
  /** The program of a package to start instead of the tree's source. */
  program?: string;
  databaseUrl?: string;
  profileDir?: string;
  /** Further words for Node, before the program. */
  nodeFlags?: readonly string[];
  /** Further environment, such as the key of a model. */
  env?: Readonly<Record<string, string>>;
  /** The one core that it may use; every core where it is missing. */
  core?: number | undefined;
}): Promise<Started> {
  const profile = options.profileDir ? ["--cpu-prof", `--cpu-prof-dir=${options.profileDir}`] : [];
  const { root = file(".."), core } = options;
  const env = {
    HOME: options.dataDir,
    PATH: process.env["PATH"],
    PARLEY_DATA_DIR: options.dataDir,
    PARLEY_PORT: "0",
    ...limitsRaisedIn(root),
    ...options.env,
    ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
  };
  const program = options.program ?? join(root, "src", "main.ts");
  return startProgram({ args: [...profile, ...(options.nodeFlags ?? []), program, "serve"], env, core });
}

/** The place of a server's store, and the tree whose program is run on it. */
interface Place {
  dataDir: string;
  root?: string;
  databaseUrl?: string;
}

/** Creates a key on a server's store by the program of its own tree, and returns it. */
export function createKey(at: Place, ...words: string[]): string {
  return runCommand(at, "keys", "create", ...words);
}

/** Runs a command on a server's store, and returns its words. @throws where the command fails */
export function runCommand({ dataDir, root = file(".."), databaseUrl }: Place, ...words: string[]): string {
  return execFileSync(process.execPath, [join(root, "src", "main.ts"), ...words], {
    env: {
      PATH: process.env["PATH"],
      HOME: dataDir,
      PARLEY_DATA_DIR: dataDir,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

/** So many agents ask for approvals, one for each client of most runs: no single one asks thousands a minute. */
const AGENTS = 64;

/** Creates the keys of several agents, which may answer what they ask. */
export function createAgentKeys(at: Place): string[] {
  return Array.from({ length: AGENTS }, (_, i) => createKey(at, `bench-${i}`, "--scope", "agent", "--self-respond"));
}

/** Starts the floor of `floor.ts` on a folder. */
export function startFloor(folder: string, core?: number): Promise<Started> {
  return startProgram({ args: [file("./floor.ts"), folder], env: process.env, core });
}

/** Starts the bare server in one of its modes. */
export function startBaseline(mode: "hello" | "each" | "group" | "postgres", place = ""): Promise<Started> {
  return startProgram({ args: [file("./baseline.ts"), mode, place], env: process.env });
}

/** A program that serves HTTP on this computer. */
export interface Program {
  /** Node where it is missing. */
  command?: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** The one core that it may use; every core where it is missing. */
  core?: number | undefined;
  /** Resolves with its address once it serves; where this is missing, the program prints the address. */
  ready?: () => Promise<string>;
}

/** Every program that was started here and runs: none outlives this process, even where it ends in the middle of a start. */
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Starts a program, and returns once it serves. @throws where it ends first, or does not serve within two minutes */
export async function startProgram(program: Program): Promise<Started> {
  const { command = process.execPath, args, env, core } = program;
  const words = core === undefined ? [command, ...args] : ["taskset", "-c", String(core), command, ...args];
  const child = spawn(words[0] ?? command, words.slice(1), { env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  const printed = new Promise<string>((resolve) => {
    let heard = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      if (!program.ready) heard += chunk;
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(heard) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  let late: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`no server after ${READY_WITHIN_MS / 1000} s: ${said}`)), READY_WITHIN_MS);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  const url = await Promise.race([program.ready?.() ?? printed, failed])
    .catch(async (error: unknown) => {
      if (child.pid !== undefined) await end("SIGKILL");
      throw error;
    })
    .finally(() => clearTimeout(late));
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

/** Returns several programs as one server at `url`: their processor time and memory together. They stop in this order. */
export function together(
  url: string,
  parts: readonly Pick<Started, "cpuMs" | "rssBytes" | "stop" | "kill">[],
): Started {
  const each = async (end: (part: (typeof parts)[number]) => Promise<void>) => {
    for (const part of parts) await end(part);
  };
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    url,
    cpuMs: () => sum(parts.map((part) => part.cpuMs())),
    rssBytes: () => sum(parts.map((part) => part.rssBytes())),
    stop: () => each((part) => part.stop()),
    kill: () => each((part) => part.kill()),
  };
}

const TICK_MS = 10;

/**
 * Returns the processor time of a process, or of its children that have ended, in ms; NaN where it is unknown. Linux tells
 * in /proc, in ticks of 10 ms: time in the program and time in the kernel on its behalf.
 */
export function cpuMsOf(pid: number | undefined, of: "itself" | "ended children" = "itself"): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
    const at = of === "itself" ? 11 : 13;
    return (Number(fields[at]) + Number(fields[at + 1])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}

/** Returns the memory that a process holds, in bytes; NaN where it is unknown. */
export function rssOf(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}
