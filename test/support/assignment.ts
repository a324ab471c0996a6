import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { request as httpRequest } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { loadConfig } from "../../src/config/config.ts";
import type { TaskState } from "../../src/tasks/model/task.ts";
import { isOver } from "../../src/asks/model/ask.ts";
import { findLiveAttempt, insertAttempt, updateAttempt } from "../../src/tasks/store/attempts.ts";
import { listDependencies, noteUsedCommit } from "../../src/tasks/store/dependencies.ts";
import { appendTaskEvents } from "../../src/tasks/store/events.ts";
import { findTask, lockTask } from "../../src/tasks/store/tasks.ts";
import type { Tx } from "../../src/core/store/db.ts";
import { insertJobIfNew, lockJob } from "../../src/asks/store/jobs.ts";
import { transact } from "../../src/core/store/transact.ts";
import type { KeyInput } from "../../src/access/create-key.ts";
import { createKey } from "../../src/access/create-key.ts";
import { moveTaskIn, pickNextTask, type TaskChange } from "../../src/tasks/move.ts";
import { moveJobIn } from "../../src/asks/end/settle.ts";
import { writeNotes } from "../../src/core/store/audit.ts";
import {
  openWorld,
  type CallOptions,
  type DatabaseName,
  type Node,
  type Reply,
  type World,
  type WorldOptions,
} from "./world.ts";

const REPOS = `
repos:
  - { name: shop, worker: true, default: true }
  - { name: blog, worker: true, start_dependents_on: approved }
  - { name: wiki, worker: true, on_stale: rerun }
`;
const SETTINGS = `
assignment:
  server_name: Parley on studio
  cors_origins: ["https://cards.example"]
`;

/** Somebody who gives work. */
export interface Sender {
  key: string;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Submits a task that must be accepted, and returns it. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  submit(id: string, more?: Record<string, unknown>, endpoint?: string): Promise<any>;
  /** Returns a task as lists show it. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the same
  task(id: string, endpoint?: string): Promise<any>;
}

/** Changes the rows as the runner of attempts does, with no agent. */
export interface Runner {
  /** Picks the next task, begins an attempt, and returns its task's id, or undefined if no task can begin. */
  start(agents?: readonly string[]): Promise<string | undefined>;
  move(repo: string, id: string, to: TaskState, change?: TaskChange): Promise<void>;
  /** The running attempt of a task has made a commit. */
  complete(repo: string, id: string, words?: string): Promise<string>;
  fail(repo: string, id: string, error?: string): Promise<void>;
  /** Every process of a task's attempt that was to end is dead. */
  bury(repo: string, id: string): Promise<void>;
  say(repo: string, id: string, text: string): Promise<void>;
}

export interface AssignmentScene extends AsyncDisposable {
  world: World;
  ana: Sender;
  runner: Runner;
  sender(input?: Partial<KeyInput>): Promise<Sender>;
  /** Starts one more server on the same database (PostgreSQL only). */
  addNode(): Promise<Node>;
}

export const shaOf = (words: string): string => createHash("sha1").update(words).digest("hex");

/**
 * Opens a world whose server takes work and starts none: it gets its repositories once it runs, so that what
 * happens to the rows is what the test does.
 */
export async function openAssignment(
  on: DatabaseName,
  {
    repos = REPOS,
    settings = SETTINGS,
    ...options
  }: Partial<WorldOptions> & { repos?: string; settings?: string } = {},
): Promise<AssignmentScene> {
  const folder = mkdtempSync(join(tmpdir(), "parley-assignment-"));
  const [file, whole] = [join(folder, "parley.yaml"), join(folder, "whole.yaml")];
  writeFileSync(file, settings);
  writeFileSync(whole, `${repos}${settings}`);
  const world = await openWorld({ ...options, on, env: { PARLEY_CONFIG: file, ...options.env } });
  const { assignment } = loadConfig({ env: { HOME: folder }, file: whole });
  world.server.ctx.assignment = assignment;
  let keys = 0;

  const sender = async (input: Partial<KeyInput> = {}): Promise<Sender> => {
    keys += 1;
    const { text: key } = await createKey(world.server.ctx, { name: `sender-${keys}`, scope: "assign", ...input });
    const call: Sender["call"] = (method, path, { headers, ...rest } = {}) =>
      world.call(method, path, { headers: { authorization: `Bearer ${key}`, ...headers }, ...rest });
    return {
      key,
      call,
      async submit(id, more = {}, endpoint = "/assignment") {
        const reply = await call("POST", endpoint, { body: { id, prompt: `Do ${id}`, ...more } });
        assert.equal(reply.status, 202, reply.text);
        return reply.body;
      },
      async task(id, endpoint = "/assignment") {
        const { body } = await call("GET", `${endpoint}?id=${encodeURIComponent(id)}`);
        assert.equal(body.tasks.length, 1, `there is one task ${id}`);
        return body.tasks[0];
      },
    };
  };

  return {
    world,
    ana: await sender({ name: "ana-cards" }),
    runner: runnerOf(world),
    sender,
    async addNode() {
      const node = await world.addNode();
      node.server.ctx.assignment = assignment;
      return node;
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One scene for a whole `describe`. */
export function sharedAssignment(
  on: DatabaseName,
  options: Parameters<typeof openAssignment>[1] = {},
): () => AssignmentScene {
  let scene: AssignmentScene;
  before(async () => {
    scene = await openAssignment(on, options);
  });
  after(() => scene[Symbol.asyncDispose]());
  return () => scene;
}

/** The job of an attempt ends with it. */
async function endJob(tx: Tx, jobId: string, to: "SUCCEEDED" | "FAILED"): Promise<void> {
  const held = (await lockJob(tx, jobId)) ?? assert.fail(`there is no job ${jobId}`);
  if (isOver(held.job.state)) return;
  const { notes } = await moveJobIn(tx, held, to, { by: { kind: "server", id: "test" } });
  await writeNotes(tx, notes);
}

function runnerOf(world: World): Runner {
  const ctx = () => world.server.ctx;
  let attempts = 0;
  const slots = () => ({ repos: ctx().assignment.repos, parallel: ctx().assignment.parallel, agents: null });

  const runner: Runner = {
    async start(agents) {
      attempts += 1;
      const [attemptId, jobId] = [`attempt-${attempts}`, `aa-job-${attempts}`];
      return transact(ctx(), async (tx) => {
        const task = await pickNextTask(tx, { ...slots(), ...(agents && { agents }) });
        if (!task) return undefined;
        const { repo, id, generation } = task;
        const n = task.attempt + 1;
        await insertJobIfNew(tx, {
          id: jobId,
          kind: `aa/${repo}`,
          external: true,
          owner: "agent:attempt",
          spec: undefined,
          env: "agent",
          repo,
          labels: {},
          priority: "P1",
          maxAttempts: 1,
          bodyHash: "",
          ttlMs: 86_400_000,
        });
        const attempt = { attemptId, repo, id, n, generation, jobId, epoch: 0, holder: "here", agent: "claude" };
        await insertAttempt(tx, { ...attempt, startSha: shaOf("base") });
        for (const { dependsOn } of await listDependencies(tx, repo, [id])) {
          const found = await findTask(tx, repo, dependsOn);
          await noteUsedCommit(tx, task, dependsOn, found?.commit ?? null);
        }
        await moveTaskIn(ctx(), tx, task, { to: "preparing", attempt: n, started: task.started + 1 });
        return id;
      });
    },
    async move(repo, id, to, change) {
      await transact(ctx(), async (tx) => {
        const held = (await lockTask(tx, repo, id)) ?? assert.fail(`there is no task ${id}`);
        await moveTaskIn(ctx(), tx, held, { to, ...change });
      });
    },
    async complete(repo, id, words = `${id} done`) {
      const commit = shaOf(words);
      await runner.move(repo, id, "running");
      await runner.move(repo, id, "committing");
      await transact(ctx(), async (tx) => {
        const held = (await lockTask(tx, repo, id)) ?? assert.fail(`there is no task ${id}`);
        const attempt = (await findLiveAttempt(tx, repo, id)) ?? assert.fail(`${id} has no attempt`);
        const patch = { state: "ended", outcome: "review", commitSha: commit, changed: true } as const;
        assert.ok(await updateAttempt(tx, attempt.attemptId, attempt.epoch, patch));
        await endJob(tx, attempt.jobId, "SUCCEEDED");
        await moveTaskIn(ctx(), tx, held, {
          to: "review",
          commit,
          changed: true,
          diffstat: { files: 1, insertions: 2, deletions: 0 },
          branch: `aa/${held.slug}`,
        });
      });
      return commit;
    },
    async fail(repo, id, error = "the agent gave up") {
      await transact(ctx(), async (tx) => {
        const held = (await lockTask(tx, repo, id)) ?? assert.fail(`there is no task ${id}`);
        const attempt = (await findLiveAttempt(tx, repo, id)) ?? assert.fail(`${id} has no attempt`);
        await updateAttempt(tx, attempt.attemptId, attempt.epoch, { state: "ended", outcome: "failed" });
        await endJob(tx, attempt.jobId, "FAILED");
        await moveTaskIn(ctx(), tx, held, { to: "failed", error });
      });
    },
    async bury(repo, id) {
      await transact(ctx(), async (tx) => {
        const held = (await lockTask(tx, repo, id)) ?? assert.fail(`there is no task ${id}`);
        const attempt = (await findLiveAttempt(tx, repo, id)) ?? assert.fail(`${id} has no attempt`);
        assert.equal(attempt.state, "ending");
        await updateAttempt(tx, attempt.attemptId, null, { state: "ended" });
        if (attempt.outcome === "canceled") await moveTaskIn(ctx(), tx, held, { to: "canceled" });
      });
    },
    async say(repo, id, text) {
      await transact(ctx(), (tx) =>
        appendTaskEvents(tx, { repo, id, attempt: 1 }, [{ type: "message", data: { text } }]),
      );
    },
  };
  return runner;
}

/** Requests that name a host of their own, which `fetch` does not do. */
export async function callAt(
  url: string,
  method: string,
  path: string,
  { host, headers = {}, body }: CallOptions & { host: string },
): Promise<Reply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const length = text === undefined ? {} : { "content-length": String(Buffer.byteLength(text)) };
    const outgoing = httpRequest(
      { hostname, port, method, path, headers: { ...headers, ...length, host } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const all = Buffer.concat(chunks).toString();
          const isJson = response.headers["content-type"]?.startsWith("application/json") ?? false;
          const found = Object.entries(response.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]);
          const reply = { status: response.statusCode ?? 0, headers: new Headers(found), text: all };
          resolve({ ...reply, body: isJson && all ? JSON.parse(all) : {} });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(text);
  });
}
