import assert from "node:assert/strict";
import { after, before } from "node:test";
import { lockJob } from "../../src/asks/store/jobs.ts";
import { lockAsk } from "../../src/asks/store/asks.ts";
import { transact } from "../../src/core/store/transact.ts";
import { createKey, type KeyInput } from "../../src/access/create-key.ts";
import { postAsk, type AskInput } from "../../src/asks/create/post-ask.ts";
import { settleAskIn } from "../../src/asks/end/settle.ts";
import { writeNotes } from "../../src/core/store/audit.ts";
import { openWorld, type DatabaseName, type Node, type Reply, type World, type WorldOptions } from "./world.ts";

/** A program with a key, as it speaks to the relay. */
export interface Program {
  key: string;
  principal: string;
  headers: Record<string, string>;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** The same of another server of the world. */
  at(node: Node): Pick<Program, "call">;
  get(path: string): Promise<Reply>;
  /** With the lease, where one is given. */
  post(path: string, body?: unknown, lease?: string): Promise<Reply>;
}

export interface JobScene extends AsyncDisposable {
  world: World;
  /** Puts jobs in line. */
  planner: Program;
  ana: Program;
  bo: Program;
  agent: Program;
  admin: Program;
  program(input: KeyInput): Promise<Program>;
  /** Puts a job in line and returns it. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  queue(more?: Record<string, unknown>): Promise<any>;
  /** Puts a job in line and claims it. */
  claimed(by?: Program, more?: Record<string, unknown>): Promise<Held>;
}

export interface Held {
  id: string;
  kind: string;
  lease: string;
  epoch: number;
}

/** A server, programs with keys of every scope, and jobs of kinds that nobody else claims. */
export async function openJobs(on: DatabaseName, options: Omit<WorldOptions, "on"> = {}): Promise<JobScene> {
  // No limit of requests is in the way of other rules.
  const env = { PARLEY_RELAY_REQUESTS_PER_SECOND: "1000000", ...options.env };
  const world = await openWorld({ on, ...options, env });
  const program = async (input: KeyInput): Promise<Program> => {
    const { text: key } = await createKey(world.server.ctx, input);
    const headers = { authorization: `Bearer ${key}` };
    const at: Program["at"] = (node) => ({
      call: (method, path, body, more) =>
        node.call(method, path, { headers: { ...headers, ...more }, ...(body !== undefined && { body }) }),
    });
    const { call } = at(world);
    return {
      key,
      headers,
      call,
      at,
      principal: `${input.scope}:${input.name}`,
      get: (path) => call("GET", path),
      post: (path, body, lease) => call("POST", path, body, lease === undefined ? {} : { "parley-lease": lease }),
    };
  };
  const scene: JobScene = {
    world,
    planner: await program({ name: "planner", scope: "assign" }),
    ana: await program({ name: "ana-runs", scope: "executor" }),
    bo: await program({ name: "bo-runs", scope: "executor" }),
    agent: await program({ name: "helper", scope: "agent" }),
    admin: await program({ name: "boss", scope: "admin" }),
    program,
    async queue(more = {}) {
      const reply = await scene.planner.post("/jobs", { kind: freshKind(), ...more });
      assert.equal(reply.status, 201, reply.text);
      return reply.body;
    },
    async claimed(by = scene.ana, more = {}) {
      const job = await scene.queue(more);
      return claim(by, job.kind);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
  return scene;
}

/** One scene for a whole `describe`. */
export function sharedJobs(on: DatabaseName, options: Omit<WorldOptions, "on"> = {}): () => JobScene {
  let scene: JobScene;
  before(async () => {
    scene = await openJobs(on, options);
  });
  after(() => scene[Symbol.asyncDispose]());
  return () => scene;
}

let kinds = 0;
/** A kind of job that nobody else has. */
export const freshKind = (): string => `kind-${(kinds += 1)}`;

/** Claims a job of this kind that is there. */
export async function claim(by: Program, kind: string, more: Record<string, unknown> = {}): Promise<Held> {
  const reply = await by.post("/jobs/claim", { kinds: [kind], worker_id: "w-1", wait: "0", ...more });
  assert.equal(reply.status, 200, reply.text);
  const { job, lease } = reply.body;
  return { id: job.job_id, kind, lease: lease.token, epoch: lease.epoch };
}

/** The reply is this error, byte for byte. */
export function assertRelayError(
  reply: Reply,
  status: number,
  error: { code: string; message: string; details?: unknown },
): void {
  assert.deepEqual([reply.status, reply.text], [status, JSON.stringify({ error })]);
  assert.equal(reply.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(reply.headers.get("cache-control"), "no-store");
}

export const assertNoJob = (reply: Reply): void =>
  assertRelayError(reply, 404, { code: "JOB_NOT_FOUND", message: "No such job" });

export const assertFenced = (reply: Reply, epoch: number, state: string): void =>
  assertRelayError(reply, 409, {
    code: "FENCED",
    message: "The lease is no longer valid",
    details: { epoch, state },
  });

export const assertClosed = (reply: Reply, id: string, state: string): void =>
  assertRelayError(reply, 409, { code: "JOB_CLOSED", message: `Job ${id} has ended`, details: { state } });

let asks = 0;
/** Asks something in the name of a job; nobody answers it by itself. */
export async function pendingAsk(scene: JobScene, jobId: string, by: Program, more: Partial<AskInput> = {}) {
  asks += 1;
  const { held } = await postAsk(scene.world.server.ctx, {
    id: `ask-${asks}`,
    jobId,
    stepId: "S-1",
    type: "CLARIFICATION",
    prompt: `Which one, ${asks}?`,
    contextHash: "none",
    envelope: null,
    constraints: { timeoutS: 604_800 },
    roleId: null,
    meta: {},
    principal: by.principal,
    bodyHash: `body-${asks}`,
    warnings: [],
    mismatch: false,
    ...more,
  });
  return held.ask.id;
}

/** Answers an ask as a person would. */
export async function answerAsk(
  scene: JobScene,
  jobId: string,
  askId: string,
  text = "The second one.",
): Promise<void> {
  await transact(scene.world.server.ctx, async (tx) => {
    const job = (await lockJob(tx, jobId)) ?? assert.fail("no job");
    const ask = (await lockAsk(tx, askId)) ?? assert.fail("no ask");
    const { notes } = await settleAskIn(
      tx,
      { job, ask },
      {
        status: "ANSWERED",
        text,
        source: "person",
        principal: "h_dana",
        answeredBy: "Dana",
        cacheable: false,
        truncated: false,
      },
      { stage: "people", stages: [] },
    );
    await writeNotes(tx, notes);
  });
}
