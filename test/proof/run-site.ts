import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gitIn } from "../support/git-in.ts";
import { call, type DatabaseName, type Reply } from "../support/world.ts";
import { isRunning, openSite, type Process, type Site, type StartOptions } from "./kill-process.ts";
import { pause } from "./kill-steps.ts";
import { plantedEnvironment } from "./plant-environment.ts";
import { endAllOf } from "./run-processes.ts";

/** Tasks of one repository at work at one time. */
export const PARALLEL = 3;
/** The repository beside the servers, and the one whose workers are elsewhere. */
export const REPOS = ["shop", "far"] as const;
export type RepoName = (typeof REPOS)[number];

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const CLAUDE = fileURLToPath(new URL("../support/fake-agents/claude.ts", import.meta.url));
const HOOKS = ["pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-merge", "pre-receive"];
const REPLY_WITHIN_MS = 8000;

/** A server or a worker: a process that is ended and started again. */
export interface Runner {
  readonly name: string;
  /** Whether it was started, and has not ended since. */
  readonly isUp: boolean;
  /** Whether it was started to die at a point. */
  readonly isRigged: boolean;
  /** Starts it. A server may die at its point before it is ready; then nobody is there. */
  start(at?: StartOptions["at"]): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** The name under which it holds attempts. */
  holder(): string;
  /** Resolves when the process that was started last has ended. */
  gone(): Promise<void>;
}

export type Server = Runner & { readonly url: string };
export type Worker = Runner & { readonly clone: string };

/** Servers on one database, workers beside them, and repositories in which pretend agents work. */
export interface RunSite extends AsyncDisposable {
  readonly on: DatabaseName;
  readonly site: Site;
  readonly servers: readonly Server[];
  readonly workers: readonly Worker[];
  /** The user's own checkout of the repository that the servers work in; it is not clean. */
  readonly checkout: string;
  /**
   * Returns the agents' notes, line by line: an agent began, an agent met another one of its task, or a call was
   * allowed.
   */
  notes(): string[][];
  /** The folder of the whole site, with the homes of its processes. */
  readonly home: string;
  readonly noteFile: string;
  /** Sends a server a request as a client, a worker or a person; null when no reply came in time. */
  ask(server: Server, as: Caller, asked: Asked): Promise<Reply | null>;
  readonly keys: Readonly<Record<Caller, string>>;
  /** Returns the output of the workers. */
  said(): string;
  /** Whether an agent is at work for somebody. */
  hasWork(holder: string): Promise<boolean>;
  /** Ends all leases of a holder, as if it had sent no heartbeat for that long. */
  loseLeases(holder: string): Promise<void>;
}
interface Asked {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}
type Caller = "assign" | "answer" | "executor";

export async function openRunSite(on: DatabaseName): Promise<RunSite> {
  const site = await openSite(on, { PARLEY_LIMITS_LONG_POLLS: "1000" });
  const home = dirname(site.dataDir);
  const endWithUs = () => endAllOf(home);
  process.once("exit", endWithUs);
  try {
    return await openIn(site, home, () => process.off("exit", endWithUs));
  } catch (error) {
    endWithUs();
    await site[Symbol.asyncDispose]();
    throw error;
  }
}

async function openIn(site: Site, home: string, forget: () => void): Promise<RunSite> {
  const { on } = site;
  const noteFile = join(home, "notes");
  writeFileSync(noteFile, "");
  for (const name of ["locks", "tmp"]) mkdirSync(join(home, name));
  const checkout = join(home, "shop");
  newCheckout(checkout);
  const origin = join(home, "far");
  newCheckout(origin);
  const agents = writeAgents(home, noteFile);
  const config = join(home, "parley.yaml");
  const repos = [
    { name: "shop", path: checkout, agent: "shell", parallel: PARALLEL, default: true },
    { name: "far", worker: true, agent: "shell" },
  ];
  writeFileSync(config, JSON.stringify({ repos, agents, assignment: { sandbox: "off", parallel: PARALLEL } }));
  makeDirty(checkout);

  const servers = (on === "postgres" ? ["one", "two"] : ["one"]).map((name) => newServer(site, { name, home, config }));
  const [first] = servers;
  if (!first) throw new Error("there is no server");
  await first.start();
  const keyOf = (scope: string) => site.run(["keys", "create", `${scope}s`, "--scope", scope, "--person", "1"]);
  const keys = { assign: await keyOf("assign"), answer: await keyOf("answer"), executor: await keyOf("executor") };
  for (const server of servers) if (!server.isUp) await server.start();
  const workers: Worker[] = [];
  for (const [i, { url }] of servers.entries()) {
    const name = `worker-${i + 1}`;
    const clone = join(home, `${name}-clone`);
    gitIn(home, "clone", "-q", origin, clone);
    makeDirty(clone);
    const key = await site.run(["keys", "create", name, "--scope", "executor"]);
    const worker = newWorker({ name, home, clone, agents, url, key });
    workers.push(worker);
    await worker.start();
  }

  return {
    on,
    site,
    servers,
    workers,
    checkout,
    home,
    keys,
    noteFile,
    notes: () =>
      readFileSync(noteFile, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split(" ")),
    async ask(server, as, { method, path, body, headers: more }) {
      const headers = { authorization: `Bearer ${keys[as]}`, ...more };
      const signal = AbortSignal.timeout(REPLY_WITHIN_MS);
      return call(`${server.url}${path}`, method, { headers, signal, ...(body !== undefined && { body }) }).catch(
        () => null,
      );
    },
    said: () =>
      globSync(join(home, "worker-*.log"))
        .map((path) => `${path}:\n${readFileSync(path, "utf8")}`)
        .join(""),
    async hasWork(holder) {
      const at = `SELECT 1 AS found FROM task_attempts WHERE holder = '${holder}' AND state = 'running'`;
      return (await site.query(at)).length > 0;
    },
    async loseLeases(holder) {
      const text = `UPDATE jobs SET lease_until = 1 WHERE holder = '${holder}' AND lease_until IS NOT NULL`;
      // A server that is stopped within a transaction has the file for itself.
      await site.query(text).catch((error: unknown) => {
        if (!/database is locked/.test(String(error))) throw error;
      });
    },
    async [Symbol.asyncDispose]() {
      for (const runner of [...servers, ...workers]) runner.signal("SIGKILL");
      await Promise.all([...servers, ...workers].map((runner) => runner.gone()));
      while (endAllOf(home) > 0) await pause(20);
      forget();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** A server that keeps its address, with a folder for its agents' work of its own. */
function newServer(site: Site, { name, home, config }: { name: string; home: string; config: string }): Server {
  let running: Process | null = null;
  let isRigged = false;
  let [url, port] = ["", "0"];
  return {
    name,
    get url() {
      return url;
    },
    get isUp() {
      return running !== null;
    },
    get isRigged() {
      return isRigged;
    },
    async start(at) {
      isRigged = at !== undefined;
      const env = {
        PARLEY_CONFIG: config,
        PARLEY_PORT: port,
        TMPDIR: join(home, "tmp"),
        PARLEY_ASSIGNMENT_WORK_DIR: join(home, `work-${name}`),
      };
      const outcome = await site.start({ env, ...(at && { at }) });
      if (!isRunning(outcome)) {
        if (at && outcome.signal === "SIGKILL") return;
        throw new Error(`the server ${name} did not start: ${JSON.stringify(outcome)}`);
      }
      running = outcome;
      void outcome.ended.then(() => {
        if (running === outcome) running = null;
      });
      ({ url } = outcome);
      ({ port } = new URL(url));
    },
    signal: (signal) => running?.signal(signal),
    holder: () => `workshop:${readFileSync(join(home, `work-${name}`, "name"), "utf8").trim()}`,
    gone: async () => void (await running?.ended),
  };
}

function newWorker(of: {
  name: string;
  home: string;
  clone: string;
  agents: object;
  url: string;
  key: string;
}): Worker {
  const { name, home, clone, agents, url, key } = of;
  const dataDir = join(home, name);
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "parley.yaml"), JSON.stringify({ agents, assignment: { sandbox: "off" } }));
  const args = ["work", "--repo", `far=${clone}`, "--data-dir", dataDir, "--parallel", String(PARALLEL)];
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    TMPDIR: join(home, "tmp"),
    PARLEY_URL: url,
    PARLEY_KEY: key,
    ...plantedEnvironment(),
  };
  let running: { child: ChildProcess; ended: Promise<unknown> } | null = null;
  return {
    name,
    clone,
    isRigged: false,
    get isUp() {
      return running !== null;
    },
    async start() {
      const child = spawn(process.execPath, [MAIN, ...args], { cwd: home, env, stdio: ["ignore", "ignore", "pipe"] });
      child.stderr?.on("data", (chunks: Buffer) => appendFileSync(join(home, `${name}.log`), chunks));
      const ended = once(child, "close");
      const started = { child, ended };
      running = started;
      void ended.then(() => {
        if (running === started) running = null;
      });
    },
    signal: (signal) => void running?.child.kill(signal),
    holder: () => `executor:${name}`,
    gone: async () => void (await running?.ended),
  };
}

/**
 * The pretend agents of the suite, each behind a few lines of shell that hold a lock for as long as any process of the
 * attempt is alive: who finds it taken has met another attempt at its task.
 */
function writeAgents(home: string, noteFile: string): object {
  const write = (name: string, does: string) => {
    const path = join(home, `${name}.sh`);
    const lines = [
      "#!/bin/sh",
      `if [ -n "$PARLEY_ATTEMPT" ]; then`,
      `  lock="${home}/locks/$PARLEY_TASK"`,
      `  exec 9>>"$lock"`,
      // The kernel may release the lock of an ended process a moment later.
      `  flock -w 1 9 || echo "met $PARLEY_TASK $PARLEY_ATTEMPT $(cat "$lock.holder")" >> "${noteFile}"`,
      `  echo "$PARLEY_ATTEMPT" > "$lock.holder"`,
      `  echo "begun $PARLEY_TASK $PARLEY_ATTEMPT $HOME" >> "${noteFile}"`,
      "fi",
      does,
    ];
    writeFileSync(path, `${lines.join("\n")}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const shell = write("shell", `x="\${AA_PROMPT#*RUN}"; eval "\${x%END*}"`);
  const claude = write("claude", `exec "${process.execPath}" "${CLAUDE}" "$@"`);
  return { shell: { type: "command", command: [shell] }, claude: { type: "claude", command: [claude] } };
}

function newCheckout(path: string): void {
  mkdirSync(path);
  gitIn(path, "init", "-q", "-b", "main");
  writeFileSync(join(path, "README.md"), "# Shop\n");
  writeFileSync(join(path, "prices.txt"), "one\ntwo\nthree\n");
  gitIn(path, "add", ".");
  gitIn(path, "commit", "-q", "-m", "Begin");
}

/** Staged, unstaged and untracked work, something stashed, and hooks that would stop every git that obeys them. */
function makeDirty(path: string): void {
  writeFileSync(join(path, "prices.txt"), "one\n");
  gitIn(path, "stash", "-q");
  writeFileSync(join(path, "README.md"), "# Shop, staged\n");
  gitIn(path, "add", ".");
  writeFileSync(join(path, "README.md"), "# Shop, unstaged\n");
  writeFileSync(join(path, "notes.txt"), "mine\n");
  for (const name of HOOKS) {
    const hook = join(path, ".git/hooks", name);
    writeFileSync(hook, "#!/bin/sh\nexit 1\n");
    chmodSync(hook, 0o755);
  }
}
