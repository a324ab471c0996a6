import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sha256Hex } from "../../src/lib/secrets/keyring.ts";
import type { Scope } from "../../src/lib/secrets/key-text.ts";
import { credentialTopic } from "../../src/core/store/wake.ts";
import { findHuman } from "../../src/access/store/humans.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { endSessions } from "../../src/access/end-sessions.ts";
import { removeHuman } from "../../src/requests/end/remove-human.ts";
import { listKeys } from "../../src/access/list-keys.ts";
import { revokeKey } from "../../src/access/revoke-key.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { advanceUntil, fresh, ROOMY, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { freshKind } from "../support/jobs.ts";
import { BOTH_TYPES, modernRequest, TASKS } from "../support/mcp.ts";
import { answer, sharedRelay, type RelayScene } from "../support/relay.ts";
import { DATABASES, type Reply } from "../support/world.ts";

/** A text that is sent after a key was revoked. A client with that key must not receive it. */
const SECRET = "the-word-that-was-said-afterwards";
const BY = { kind: "server", id: "test" } as const;

/** A request that waits, as its client knows it. */
interface Waiting {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Causes the event that the request waits for. */
  happen(): Promise<unknown>;
}

/** Opens what waits, with these headers to speak by. */
type Opens = (scene: RelayScene, headers: Record<string, string>, principal: string) => Promise<Waiting>;

const asked = async ({ world }: RelayScene, headers: Record<string, string>): Promise<string> => {
  const body = { prompt: "Which word?", type: "text", min_responses: 2 };
  const reply = await world.call("POST", "/agent/questions", { headers, body });
  assert.equal(reply.status, 201, reply.text);
  return reply.body.question_id;
};
const answered = ({ world }: RelayScene, id: string) => world.person(fresh("bo")).answer(id, SECRET);

const call = (name: string, args: object) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args },
});

const waitByTool =
  (accept: string): Opens =>
  async (scene, headers) => {
    const id = await asked(scene, headers);
    const body = call("wait_for_human_responses", { question_id: id, min_responses: 1, max_wait_seconds: 40 });
    return { path: "/mcp", method: "POST", headers: { accept }, body, happen: () => answered(scene, id) };
  };

const WAITS: Record<string, { scope: Scope; opens: Opens; status: number }> = {
  "the stream of a question": {
    scope: "agent",
    status: 200,
    async opens(scene, headers) {
      const id = await asked(scene, headers);
      return { path: `/agent/questions/${id}/events`, happen: () => answered(scene, id) };
    },
  },
  "the stream of all own questions": {
    scope: "agent",
    status: 200,
    async opens(scene, headers) {
      const id = await asked(scene, headers);
      return { path: "/agent/questions/events", happen: () => answered(scene, id) };
    },
  },
  "a long-poll of a question": {
    scope: "agent",
    status: 401,
    async opens(scene, headers) {
      const id = await asked(scene, headers);
      return { path: `/agent/questions/${id}?wait=25s`, happen: () => answered(scene, id) };
    },
  },
  "a tool that waits, as a stream": { scope: "agent", status: 200, opens: waitByTool(BOTH_TYPES) },
  "a tool that waits": { scope: "agent", status: 401, opens: waitByTool("application/json") },
  "listening for tasks": {
    scope: "agent",
    status: 200,
    async opens(scene, headers) {
      const id = await asked(scene, headers);
      const args = { name: "wait_for_human_responses", arguments: { question_id: id, max_wait_seconds: 0 } };
      const wait = modernRequest("tools/call", args, { capabilities: TASKS });
      const made = scene.world.call("POST", "/mcp", { body: wait.body, headers: { ...headers, ...wait.headers } });
      const { taskId } = (await passing(scene, made)).body.result;
      const listen = { notifications: { taskIds: [taskId] } };
      const request = modernRequest("subscriptions/listen", listen, { capabilities: TASKS });
      return {
        path: "/mcp",
        method: "POST",
        headers: { ...request.headers, accept: BOTH_TYPES },
        body: request.body,
        happen: () => answered(scene, id),
      };
    },
  },
  "a long-poll of a request to people": {
    scope: "agent",
    status: 401,
    async opens({ world }, headers) {
      const { ctx } = world.server;
      const person = await enrol(ctx, fresh("Dana"));
      const id = String((await findHuman(ctx.db, person))?.number);
      const callId = fresh("call");
      const body = { run_id: "run", call_id: callId, spec: { fn: "f", kwargs: {}, channel: { human: { id } } } };
      const made = await world.call("POST", "/humanlayer/v1/function_calls", { headers, body });
      assert.ok(made.status < 300, made.text);
      const dana = await decider(world, person);
      const happen = () => dana.decides({ approved: false, comment: SECRET });
      return { path: `/humanlayer/v1/function_calls/${callId}?wait=50`, happen };
    },
  },
  "a long-poll of an executor's ask": {
    scope: "executor",
    status: 401,
    async opens(scene, headers, principal) {
      const by = { ...scene.ana, principal, headers };
      by.post = (path, body) => scene.world.call("POST", path, { headers, body });
      const ask = await scene.ask({}, by);
      await scene.withPeople(ask);
      const service = await scene.program({ name: fresh("service"), scope: "answer" });
      const happen = () => answer(service, ask, { answer_text: SECRET });
      return { path: `/asks/${ask.ask_id}/answer?wait=24s`, happen };
    },
  },
  "waiting for a job": {
    scope: "executor",
    status: 401,
    async opens(scene) {
      const body = { kinds: [freshKind()], worker_id: "w", wait: "24s" };
      const happen = () => scene.queue({ kind: body.kinds[0], labels: { word: SECRET } });
      return { path: "/jobs/claim", method: "POST", body, happen };
    },
  },
  "the stream of a job": {
    scope: "admin",
    status: 200,
    async opens(scene) {
      const job = await scene.claimed();
      const happen = () => scene.ana.post(`/jobs/${job.id}/logs`, { message: SECRET }, job.lease);
      return { path: `/jobs/${job.id}/events`, happen };
    },
  },
};

/** Returns the result of a request while the clock moves on. */
async function passing<T>({ world }: RelayScene, work: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = work.finally(() => (isOver = true));
  await advanceUntil(world, 125, () => isOver);
  return ended;
}

/** Sends a request that waits, and returns the reply that will come as soon as it hangs on this credential. */
async function sent(
  { world }: RelayScene,
  waiting: Waiting,
  headers: Record<string, string>,
  credential: string,
): Promise<{ reply: Promise<Reply> }> {
  const { path, method = "GET", body } = waiting;
  const reply = world.call(method, path, { headers: { ...headers, ...waiting.headers }, ...(body ? { body } : {}) });
  const topic = credentialTopic(sha256Hex(credential));
  let over: Reply | undefined;
  void reply.then((early) => (over = early));
  await until(async () => over ?? [...world.server.ctx.wake.topics()].includes(topic));
  return { reply };
}

async function revokeByName({ world }: RelayScene, name: string): Promise<void> {
  const { ctx } = world.server;
  const key = (await listKeys(ctx)).find((one) => one.name === name) ?? assert.fail("no such key");
  await revokeKey(ctx, key.id);
}

for (const on of DATABASES) {
  describe(`what waits on ${on}`, () => {
    const scene = sharedRelay(on, { env: ROOMY });

    for (const [name, { scope, opens, status }] of Object.entries(WAITS)) {
      const start = async () => {
        const holder = fresh("holder");
        const { key, headers, principal } = await scene().program({ name: holder, scope });
        const waiting = await opens(scene(), headers, principal);
        const { reply } = await sent(scene(), waiting, headers, key);
        return { waiting, reply, revoke: () => revokeByName(scene(), holder) };
      };

      it(`hears nothing that happens after its key was revoked: ${name}`, async () => {
        const { waiting, reply, revoke } = await start();
        await revoke();
        await waiting.happen();
        const { status: said, text } = await passing(scene(), reply);
        assert.equal(said, status, text);
        assert.doesNotMatch(text, new RegExp(SECRET));
      });

      it(`ends within about a second though nothing happens: ${name}`, async () => {
        const { reply, revoke } = await start();
        const { clock } = scene().world;
        const before = clock.monotonic();
        await revoke();
        assert.equal((await passing(scene(), reply)).status, status);
        assert.ok(clock.monotonic() - before <= 3000);
      });
    }

    for (const [name, end] of Object.entries({
      "is ended by an admin": ({ world }: RelayScene, person: string) => endSessions(world.server.ctx, person, BY),
      "was of somebody who is removed": async ({ world: { server } }: RelayScene, person: string) => {
        const { number } = (await findHuman(server.ctx.db, person)) ?? assert.fail("nobody");
        await removeHuman(server.ctx, number, BY);
      },
    })) {
      it(`ends the stream of an inbox whose session ${name}`, async () => {
        const { world } = scene();
        const { ctx } = world.server;
        const person = await enrol(ctx, fresh("Eve"));
        const { code } = await createSignInLink(ctx, person);
        const session = await world.call("POST", "/session", { body: { code } });
        const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
        const token = cookie.slice(cookie.indexOf("=") + 1);
        const waiting: Waiting = { path: "/people/me/events", happen: async () => undefined };
        const { reply } = await sent(scene(), waiting, { cookie }, token);
        await end(scene(), person);
        const { id } = await askPeople(ctx, { audience: toPerson(person), ref: fresh("call") });
        const { status, text } = await passing(scene(), reply);
        assert.equal(status, 200);
        assert.doesNotMatch(text, new RegExp(id));
      });
    }
  });
}
