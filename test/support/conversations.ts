import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createKey, type KeyInput } from "../../src/access/create-key.ts";
import { listFreezes } from "../../src/policy/store/freezes.ts";
import { accepted, contactBody } from "./a2h.ts";
import { openWorld, type DatabaseName, type Reply, type World } from "./world.ts";

export const BASE = "/a2h/v1alpha1";

/** Somebody with a key, at the A2H door. */
export interface Holder {
  key: string;
  call(method: string, path: string, body?: unknown): Promise<Reply>;
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown): Promise<Reply>;
}

/** A server whose time runs, with a settings file of its own. */
export interface Talking extends AsyncDisposable {
  world: World;
  /** The agent `support`. */
  agent: Holder;
  admin: Holder;
  holder(input: KeyInput): Promise<Holder>;
  holderOf(key: string): Holder;
  /** Enrolls a human on one channel; returns the number. */
  enroll(name: string, channel: object): Promise<string>;
  /** Resolves with the unacknowledged messages to `support`, once there are so many. */
  said(count: number): Promise<Reply["body"][]>;
}

export async function openTalking(
  on: DatabaseName,
  settings: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Talking> {
  const folder = mkdtempSync(join(tmpdir(), "parley-talk-"));
  const file = join(folder, "parley.yaml");
  writeFileSync(file, settings);
  const world = await openWorld({ on, running: true, env: { PARLEY_CONFIG: file, ...env } });
  const holderOf = (key: string): Holder => {
    const call: Holder["call"] = (method, path, body) =>
      world.call(method, `${BASE}${path}`, {
        headers: { authorization: `Bearer ${key}` },
        ...(body !== undefined && { body }),
      });
    return { key, call, get: (path) => call("GET", path), post: (path, body) => call("POST", path, body) };
  };
  const holder = async (input: KeyInput) => holderOf((await createKey(world.server.ctx, input)).text);
  const admin = await holder({ name: "boss", scope: "admin" });
  const agent = await holder({ name: "support", scope: "agent" });
  return {
    world,
    agent,
    admin,
    holder,
    holderOf,
    async enroll(name, channel) {
      const reply = await admin.post("/humans", { name, prioritizedContactChannels: [channel] });
      assert.equal(reply.status, 201, reply.text);
      return reply.body.id as string;
    },
    said: (count) =>
      seen(
        async () => (await agent.get("/conversations?all=true")).body.items as Reply["body"][],
        (items) => items.length >= count,
      ),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Looks until what is seen fits; the test's own time limit ends a wait that never does. */
export async function seen<T>(look: () => T | Promise<T>, fits: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look();
    if (fits(found)) return found;
    await pause(5);
  }
}

export interface AgentMessage {
  headers: IncomingHttpHeaders;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  body: any;
}

/** An agent's own server, which takes every event. */
export async function openAgentServer(): Promise<AsyncDisposable & { told: AgentMessage[]; url: string }> {
  const told: AgentMessage[] = [];
  const server = createHttpServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const text = Buffer.concat(parts).toString();
      told.push({ headers: request.headers, text, body: JSON.parse(text) });
      response.writeHead(200).end();
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    told,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns how a contact stands. */
export const statusOf = async (scene: Talking, { call_id: id }: { call_id: string }): Promise<Reply["body"]> =>
  accepted(await scene.agent.get(`/human_contacts/${id}`)).status;

/** Asks in a conversation, and returns the request. */
export async function ask(scene: Talking, channelId: string, msg: string) {
  const body = contactBody({ msg, channel: { channel_id: channelId } });
  accepted(await scene.agent.post("/human_contacts", body));
  return body;
}

/** Returns whom the freezes in force cover, and by which way each was made. */
export const frozenIn = async ({ world }: Talking): Promise<string[]> =>
  (await listFreezes(world.server.ctx.db)).map(({ scope, subject, via }) => `${scope} ${subject} by ${via}`);
