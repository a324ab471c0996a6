import assert from "node:assert/strict";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/lib/clock.ts";
import { findProcesses, killAttempt } from "../../src/workshop/sandbox/processes.ts";
import type { SupervisorLine, SupervisorMark } from "../../src/workshop/supervisor/lines.ts";
import { gitIn } from "./git-in.ts";
import type { FakeStep } from "./fake-agents/play.ts";
import { reservePort } from "./ports.ts";
import { newFolder, parley, serve, type Run } from "./program.ts";
import { call, type CallOptions, type Reply } from "./world.ts";

/** Fake agents by the names of the real ones (test/support/fake-agents). */
const FAKES = ["claude", "codex", "acp"].map((name) => {
  const program = fileURLToPath(new URL(`fake-agents/${name}.ts`, import.meta.url));
  return [name, { type: name, command: [program] }] as const;
});
const AT_POINT = new URL("../proof/kill-at-point.ts", import.meta.url).href;

/** Runs what stands in its prompt between `RUN` and `END`. */
export const SHELL = { type: "command", command: ["sh", "-c", 'x="${AA_PROMPT#*RUN}"; eval "${x%END*}"'] } as const;

export interface SiteOptions {
  repos?: readonly Record<string, unknown>[];
  agents?: Readonly<Record<string, unknown>>;
  assignment?: Readonly<Record<string, unknown>>;
  more?: Readonly<Record<string, unknown>>;
  env?: Readonly<Record<string, string>>;
}

/** The shipped server on a folder of its own, with repositories in which agents work; it is ended and started again. */
export interface AssignSite extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly workDir: string;
  readonly run: Run;
  /** The environment of a command that gives work. */
  readonly env: Record<string, string>;
  /** Starts the server, always on the same port. With a point it dies there. */
  start(at?: string): Promise<void>;
  kill(): Promise<void>;
  /** Lets time pass for every later start, as if the machine had been off. */
  sleepFor(ms: number): void;
  /** SIGTERM; returns the exit code. */
  stop(): Promise<number | null>;
  assign(method: string, path: string, options?: CallOptions): Promise<Reply>;
  person(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Submits a task that must be accepted. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  submit(id: string, more?: Record<string, unknown>, repo?: string): Promise<any>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the same
  task(id: string, repo?: string): Promise<any>;
  /** Looks at a task until it is so. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the same
  until(id: string, wanted: string | ((task: any) => boolean), repo?: string): Promise<any>;
  /** Looks at what waits for people until as many do, and returns it whole. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the same
  inbox(count: number): Promise<any[]>;
  /** Everything that ever was addressed to people, by its title. */
  asked(): string[];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the same
  decide(ask: any, decision: Record<string, unknown>): Promise<void>;
  review(id: string, verdict: string, more?: Record<string, unknown>): Promise<Reply>;
  git(repo: string, ...args: string[]): string;
  checkout(repo: string): string;
  /** The attempt of a task that is not over, or its last one. */
  attemptId(id: string): string;
  /** Returns the processes of every attempt there ever was at a task, or at all, without supervisors. */
  processes(id?: string): Promise<number[]>;
  folder(id: string): string;
  mark(id: string): SupervisorMark;
  log(id: string): SupervisorLine[];
  query(text: string): Record<string, unknown>[];
}

/** A prompt that tells a fake agent its steps. */
export const steps = (...all: FakeStep[]): string => `Do it\nFAKE ${JSON.stringify(all)}`;
/** A prompt that tells the agent `shell` its commands. */
export const run = (line: string): string => `Do it\nRUN\n${line}\nEND`;

/** Beside many others on a busy machine a task may take minutes. */
const WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 50;
const LOOK_EVERY_AT_MOST_MS = 300;

/** Looks until there is something; a machine that is busy is waited for. */
export async function eventually<T>(
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  what: () => string,
  withinMs = WITHIN_MS,
): Promise<T> {
  const start = performance.now();
  for (let waitedMs = 0; waitedMs < withinMs; waitedMs = performance.now() - start) {
    const found = await look();
    if (found) return found;
    // A long wait looks less often, because each look takes time from the work that it waits for.
    await systemClock.sleep(Math.max(LOOK_EVERY_MS, Math.min(waitedMs / 20, LOOK_EVERY_AT_MOST_MS)));
  }
  return assert.fail(`never came: ${what()}`);
}

export async function openSite(options: SiteOptions = {}): Promise<AssignSite> {
  const dataDir = newFolder();
  const { repos = [{ name: "shop" }] } = options;
  const names = repos.map(({ name }) => name as string);
  const checkout = (repo: string) => `${dataDir}-${repo}`;
  for (const name of names) {
    mkdirSync(checkout(name));
    gitIn(checkout(name), "init", "-q", "-b", "main");
    writeFileSync(join(checkout(name), "README.md"), "# Shop\n");
    writeFileSync(join(checkout(name), "prices.txt"), "one\ntwo\nthree\n");
    gitIn(checkout(name), "add", ".");
    gitIn(checkout(name), "commit", "-q", "-m", "Begin");
  }
  const file = `${dataDir}.yaml`;
  const settings = {
    repos: repos.map((one) => ({ path: checkout(one["name"] as string), agent: "shell", ...one })),
    agents: { ...Object.fromEntries(FAKES), shell: SHELL, ...options.agents },
    assignment: { sandbox: "off", ...options.assignment },
    ...options.more,
  };
  writeFileSync(file, JSON.stringify(settings));

  let server: (Run & { url: string }) | null = null;
  const port = String(await reservePort());
  let aheadMs = 0;
  const started = () => server ?? assert.fail("the server runs");
  const keys: Record<string, string> = {};
  const workDir = join(dataDir, "workshop");

  async function newKey(scope: string): Promise<string> {
    const made = await parley(["keys", "create", `ana-${scope}`, "--scope", scope, "--person", "1"], {
      PARLEY_DATA_DIR: dataDir,
    });
    assert.equal(made.code, 0, made.err);
    return made.out.trim();
  }
  const as =
    (scope: string): AssignSite["assign"] =>
    (method, path, { headers, ...rest } = {}) =>
      call(`${started().url}${path}`, method, {
        ...rest,
        headers: { authorization: `Bearer ${keys[scope]}`, ...headers },
      });
  const endpoint = (repo: string) => `/assignment/${repo}`;
  const first = names[0] ?? "shop";

  const site: AssignSite = {
    dataDir,
    workDir,
    checkout,
    get url() {
      return started().url;
    },
    get run() {
      return started();
    },
    get env() {
      return { PARLEY_URL: started().url, PARLEY_KEY: keys["assign"] ?? "" };
    },
    async start(at) {
      const env = {
        PARLEY_LOG_LEVEL: "warn",
        // Tests that wait side by side look more often than one client may.
        PARLEY_RELAY_REQUESTS_PER_SECOND: "100000",
        ...options.env,
        ...((at !== undefined || aheadMs > 0) && { NODE_OPTIONS: `--import=${AT_POINT}` }),
        ...(aheadMs > 0 && { PROOF_CLOCK_AHEAD_MS: String(aheadMs) }),
        ...(at !== undefined && { PROOF_POINT: at }),
      };
      server = await serve(dataDir, env, "--config", file, "--port", port);
      keys["assign"] ??= await newKey("assign");
      keys["answer"] ??= await newKey("answer");
    },
    sleepFor(ms) {
      aheadMs += ms;
    },
    async kill() {
      const { child, ended } = started();
      child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      const { child, ended } = started();
      child.kill("SIGTERM");
      return (await ended).code;
    },
    assign: as("assign"),
    person: as("answer"),
    async submit(id, more = {}, repo = first) {
      const reply = await site.assign("POST", endpoint(repo), {
        body: { id, prompt: run(`echo ${id} > ${id}.txt`), ...more },
      });
      assert.equal(reply.status, 202, reply.text);
      return reply.body;
    },
    async task(id, repo = first) {
      const reply = await site.assign("GET", `${endpoint(repo)}/tasks/${encodeURIComponent(id)}`);
      assert.equal(reply.status, 200, reply.text);
      return reply.body;
    },
    async until(id, wanted, repo = first) {
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
      let task: any;
      const isSo = typeof wanted === "string" ? (one: { state: string }) => one.state === wanted : wanted;
      return eventually(
        async () => {
          task = await site.task(id, repo);
          if (isSo(task)) return task;
          const isLost =
            typeof wanted === "string" && wanted !== task.state && /^(failed|canceled|rejected)$/.test(task.state);
          assert.ok(!isLost, `${id} is ${task.state} and not ${wanted.toString()}: ${task.error}`);
          return undefined;
        },
        () => `${id} ${wanted.toString()}: it is ${JSON.stringify(task)}\n${server?.err()}`,
      );
    },
    async inbox(count) {
      let list: { id: string }[] = [];
      await eventually(
        async () => {
          const reply = await site.person("GET", "/people/me/asks");
          list = reply.body.asks;
          return list.length === count;
        },
        () => `${count} in the inbox: ${JSON.stringify(list)}`,
      );
      return Promise.all(list.map(async ({ id }) => (await site.person("GET", `/people/me/asks/${id}`)).body));
    },
    asked: () => site.query(`SELECT title FROM requests ORDER BY created_at`).map(({ title }) => String(title)),
    async decide(ask, decision) {
      const body = { ...(ask.digest !== null && { digest: ask.digest }), ...decision };
      const reply = await site.person("POST", `/people/me/asks/${ask.id}/decision`, { body });
      assert.equal(reply.status, 200, reply.text);
    },
    async review(id, verdict, more = {}) {
      const { attempt } = await site.task(id);
      return site.assign("POST", `${endpoint(first)}/tasks/${id}/review`, { body: { verdict, attempt, ...more } });
    },
    git: (repo, ...args) => gitIn(checkout(repo), ...args),
    attemptId(id) {
      const [row] = site.query(`SELECT attempt_id FROM task_attempts WHERE id = '${id}' ORDER BY n DESC LIMIT 1`);
      return String(row?.["attempt_id"]);
    },
    async processes(id) {
      const rows = site.query(`SELECT attempt_id FROM task_attempts ${id === undefined ? "" : `WHERE id = '${id}'`}`);
      return (await Promise.all(rows.map((row) => findProcesses(String(row["attempt_id"]))))).flat();
    },
    folder(id) {
      const [row] = site.query(`SELECT repo, slug, generation FROM tasks WHERE id = '${id}'`);
      return join(workDir, "work", String(row?.["repo"]), `${String(row?.["slug"])}.${String(row?.["generation"])}`);
    },
    mark: (id) => JSON.parse(readFileSync(join(site.folder(id), "supervisor.json"), "utf8")) as SupervisorMark,
    log: (id) =>
      readFileSync(join(site.folder(id), "log.ndjson"), "utf8")
        .split("\n")
        // Behind the last line's end stands nothing, or a line that is being written.
        .slice(0, -1)
        .map((line) => JSON.parse(line) as SupervisorLine),
    query(text) {
      const connection = new DatabaseSync(join(dataDir, "parley.db"), { timeout: 5000 });
      try {
        return connection.prepare(text).all();
      } finally {
        connection.close();
      }
    },
    async [Symbol.asyncDispose]() {
      if (server) await site.kill();
      for (const mark of globSync(join(workDir, "work/*/*/supervisor.json"))) {
        const { pid, socket } = JSON.parse(readFileSync(mark, "utf8")) as SupervisorMark;
        await endProcess(pid, mark);
        rmSync(join(socket, ".."), { recursive: true, force: true });
      }
      if (existsSync(join(dataDir, "parley.db"))) {
        for (const row of site.query("SELECT attempt_id FROM task_attempts")) {
          await killAttempt(String(row["attempt_id"]), { clock: systemClock, atOnce: true });
        }
      }
    },
  };
  await site.start();
  return site;
}

/** Ends a supervisor that is still there, and no stranger who has its number by now. */
async function endProcess(pid: number, mark: string): Promise<void> {
  const line = (): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };
  if (!line().includes(join(mark, ".."))) return;
  process.kill(pid, "SIGKILL");
  while (line() !== "") await systemClock.sleep(5);
}

/** One commit of the first attempt stands on the start commit, in the user's repository, and nobody was asked twice. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
export function assertDone(site: AssignSite, id: string, task: any): void {
  const refs = site.git("shop", "for-each-ref", "--format=%(refname) %(objectname)", "refs/aa", "refs/heads/aa");
  const own = refs.split("\n").filter((ref) => ref.includes(`/${id}-`) && !ref.includes("-wip"));
  assert.deepEqual(
    own.map((ref) => ref.replace(/-[0-9a-f]{8}/, "")),
    [`refs/aa/${id}/1 ${task.commit}`, `refs/heads/aa/${id} ${task.commit}`],
  );
  assert.equal(site.git("shop", "rev-parse", `${task.commit}^`), site.git("shop", "rev-parse", "main"));
  assert.match(
    site.git("shop", "log", "-1", "--format=%B", task.commit),
    new RegExp(`\nAA-Task: ${id}\nAA-Attempt: 1\n`),
  );
  assert.deepEqual([task.attempt, task.attempts.length, task.status], [1, 1, "completed"]);
  const reviews = site.asked().filter((title) => title.startsWith("Review") && title.includes(id));
  assert.equal(reviews.length, 1, `one review of ${id}: ${site.asked().join(", ")}`);
}

/** Two steps, between which it waits until it may go on; each begin of it leaves a line in the folder beside its tree. */
export const WAITS = "echo x >> ../times; while [ ! -e ../go ]; do sleep 0.1; done; echo done > done.txt";

export const appears = (path: string) =>
  eventually(
    () => existsSync(path),
    () => path,
  );
export const beside = (site: AssignSite, id: string, name: string): string => join(site.folder(id), name);
export const timesOf = (site: AssignSite, id: string): string => readFileSync(beside(site, id, "times"), "utf8");
/** The process of a task's agent, which may do its first things before its supervisor has written that it was started. */
export const agentOf = (site: AssignSite, id: string): Promise<number> =>
  eventually(
    () => site.log(id).findLast((line) => line.type === "started")?.pid,
    () => "the agent's start in the log",
  );

/** One site for a whole `describe`. */
export function sharedSite(options: SiteOptions = {}): () => AssignSite {
  let site: AssignSite | null = null;
  before(async () => {
    site = await openSite(options);
  });
  after(() => site?.[Symbol.asyncDispose]());
  return () => site ?? assert.fail("the site is open");
}
