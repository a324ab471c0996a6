import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { Channel } from "../../src/channels/channel.ts";
import { email as emailKind } from "../../src/channels/email/kind.ts";
import { parseEmail } from "../../src/channels/email/target.ts";
import { slack as slackKind } from "../../src/channels/slack/kind.ts";
import { parseTarget } from "../../src/channels/slack/target.ts";
import { createKey, type KeyInput } from "../../src/access/create-key.ts";
import { providerOf, type Provider } from "./addressed.ts";
import { openWorld, type DatabaseName, type Reply, type World, type WorldOptions } from "./world.ts";

export const BASE = "/humanlayer/v1";

/** Somebody with a key. */
export interface KeyHolder {
  key: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown): Promise<Reply>;
}

export interface Scene extends AsyncDisposable {
  world: World;
  slack: Provider;
  email: Provider;
  agent: KeyHolder;
  admin: KeyHolder;
  /** A key of its own, on the same server. */
  holder(input: KeyInput): Promise<KeyHolder>;
  /** Enrolls a human and returns the number, and a key that answers for them. */
  human(name: string, more?: Record<string, unknown>): Promise<{ id: string; person: string; answer: KeyHolder }>;
}

/** A server with mail and Slack accounts that remember what they were sent. */
export async function openScene(on: DatabaseName, options: Omit<WorldOptions, "on"> = {}): Promise<Scene> {
  const slack = {
    ...providerOf("slack"),
    fields: slackKind.fields,
    parse: (input) => parseTarget(input, undefined),
  } as Provider;
  const email = { ...providerOf("email"), fields: emailKind.fields, parse: parseEmail as Channel["parse"] } as Provider;
  const world = await openWorld({ on, channels: [slack, email], ...options });
  const holder = async (input: KeyInput): Promise<KeyHolder> => {
    const { text: key } = await createKey(world.server.ctx, input);
    const call: KeyHolder["call"] = (method, path, body, headers) =>
      world.call(method, path.startsWith("//") ? path.slice(1) : `${BASE}${path}`, {
        headers: { authorization: `Bearer ${key}`, ...headers },
        ...(body !== undefined && { body }),
      });
    return { key, call, get: (path) => call("GET", path), post: (path, body) => call("POST", path, body) };
  };
  const admin = await holder({ name: "boss", scope: "admin" });
  return {
    world,
    slack,
    email,
    holder,
    admin,
    agent: await holder({ name: "support", scope: "agent" }),
    async human(name, more = {}) {
      const input = { name, description: `${name} knows`, prioritizedContactChannels: [{ inbox: {} }], ...more };
      const reply = await admin.post("/humans", input);
      assert.equal(reply.status, 201, reply.text);
      const id = reply.body.id as string;
      return { id, person: id, answer: await holder({ name: `of-${id}`, scope: "answer", person: id }) };
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** One server for a whole `describe`: its tests keep apart by their ids. */
export function sharedScene(on: DatabaseName, options: Omit<WorldOptions, "on"> = {}): () => Scene {
  let scene: Scene;
  before(async () => {
    scene = await openScene(on, options);
  });
  after(() => scene[Symbol.asyncDispose]());
  return () => scene;
}

let ids = 0;
/** A call id that nobody used before. */
export const freshId = (): string => `call_${(ids += 1)}`;

/** A function call with sensible defaults. */
export function callBody(spec: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  return {
    run_id: "run_9",
    call_id: freshId(),
    spec: { fn: "issue_refund", kwargs: { order: "A-1007" }, ...spec },
    ...more,
  };
}

/** A human contact with sensible defaults. */
export function contactBody(spec: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  return { run_id: "run_9", call_id: freshId(), spec: { msg: "Which day suits you?", ...spec }, ...more };
}

/** A message with sensible defaults. */
export function messageBody(spec: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  return {
    apiVersion: "proto.a2h.dev/v1alpha1",
    kind: "Message",
    spec: { message: "Ship build 412?", ...spec },
    ...more,
  };
}

/** The reply is this error, word for word; `detail` is the message by default. */
export function assertA2hError(
  reply: Reply,
  status: number,
  error: { code: string; message: string } & Record<string, unknown>,
  detail: unknown = error.message,
): void {
  assert.deepEqual([reply.status, reply.body], [status, { error, detail }], reply.text);
  assert.equal(reply.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(reply.headers.get("cache-control"), "no-store");
}

/** The request was accepted; returns its body. */
export function accepted(reply: Reply) {
  assert.ok(reply.status < 300, `${reply.status} ${reply.text}`);
  return reply.body;
}

/** A call to Ana, with the options to reject it. */
export async function openCall(scene: Scene, spec: Record<string, unknown> = {}) {
  const ana = await scene.human("Ana Ruiz");
  const body = callBody({ channel: { human: { id: ana.id } }, ...spec });
  const call = accepted(await scene.agent.post("/function_calls", body));
  return { ana, body, call, respond: `/agent/function_calls/${body.call_id}/respond` };
}
