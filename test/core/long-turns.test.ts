import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { MOST_VALUES } from "../../src/lib/json/json-body.ts";
import { createKey } from "../../src/access/create-key.ts";
import { enrol } from "../support/addressed.ts";
import { openWorld, type World } from "../support/world.ts";

const BYTES = 1_000_000;
/** How often one turn of the event loop may go through a whole body; each time takes a few milliseconds. */
const MOST_PER_TURN = 5;

/** Fills a body with as many values as it may hold. */
const VALUE = Object.fromEntries(
  Array.from({ length: MOST_VALUES - 50 }, (_, i) => [`n${i}`.padEnd(45, "x"), "v".repeat(45)]),
);

/** Counts the characters that JSON is read from and written to within each turn of the event loop, and large texts read. */
function watchTurns(): { most(): number; read(): number; end(): void } {
  const { parse, stringify } = JSON;
  let now = 0;
  let most = 0;
  let read = 0;
  let isOver = false;
  const count = (characters: number) => {
    now += characters;
    most = Math.max(most, now);
  };
  JSON.parse = (text: string, reviver) => {
    count(text.length);
    if (text.length > 0.9 * BYTES) read += 1;
    return parse(text, reviver) as unknown;
  };
  JSON.stringify = ((...given: Parameters<typeof stringify>) => {
    const text = stringify(...given) as string | undefined;
    count(text?.length ?? 0);
    return text;
  }) as typeof stringify;
  const turn = () => {
    now = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  return {
    most: () => most,
    read: () => read,
    end() {
      isOver = true;
      Object.assign(JSON, { parse, stringify });
    },
  };
}

describe("the largest body of many values", () => {
  let world: World;
  let agent: Record<string, string>;
  let ana: Record<string, string>;
  before(async () => {
    world = await openWorld({ on: "sqlite" });
    const { ctx } = world.server;
    const person = await enrol(ctx, "Ana Ruiz", [], { seesAll: true });
    const keyed = async (scope: "agent" | "answer", of?: string) => ({
      authorization: `Bearer ${(await createKey(ctx, { name: scope, scope, ...(of && { person: of }) })).text}`,
    });
    agent = await keyed("agent");
    ana = await keyed("answer", person);
  });
  after(() => world[Symbol.asyncDispose]());

  const A2H = "/humanlayer/v1";
  const editable = (call_id: string) => {
    return { run_id: "r", call_id, spec: { fn: "refund", kwargs: {}, editable: true } };
  };
  /** Asks somebody, and returns the path of their decision with the digest of what they were shown. */
  async function asked(path: string, body: object): Promise<{ path: string; digest: string }> {
    const made = await world.call("POST", A2H + path, { headers: agent, body });
    assert.ok(made.status < 300, made.text);
    const { body: list } = await world.call("GET", "/people/me/asks", { headers: ana });
    const at = `/people/me/asks/${list.asks[0].id}`;
    const { body: ask } = await world.call("GET", at, { headers: ana });
    return { path: `${at}/decision`, digest: ask.digest };
  }
  const message = (spec: object) => ({ apiVersion: "proto.a2h.dev/v1alpha1", kind: "Message", spec });
  const tool = (name: string, given: object) => {
    return { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } };
  };

  interface Sent {
    path: string;
    headers: Record<string, string>;
    body: object;
  }
  const DOORS: Record<string, () => Promise<Sent>> = {
    "a call over A2H": async () => ({
      path: `${A2H}/function_calls`,
      headers: agent,
      body: { run_id: "r", call_id: "c1", spec: { fn: "refund", kwargs: { VALUE } } },
    }),
    "a contact over A2H": async () => ({
      path: `${A2H}/human_contacts`,
      headers: agent,
      body: { run_id: "r", call_id: "h1", spec: { msg: "Well?", state: { VALUE } } },
    }),
    "a message's schema": async () => ({
      path: `${A2H}/messages`,
      headers: agent,
      body: message({ message: "Well?", response_schema: { type: "object", default: VALUE } }),
    }),
    "a call over MCP": async () => ({
      path: "/mcp",
      headers: { ...agent, accept: "application/json" },
      body: tool("request_approval", { fn: "refund", kwargs: { VALUE }, max_wait_seconds: 0 }),
    }),
    "a decision's arguments": async () => {
      const { path, digest } = await asked("/function_calls", editable("i1"));
      return { path, headers: ana, body: { approved: true, digest, kwargs: { VALUE } } };
    },
    "a decision's arguments as text": async () => {
      const { path, digest } = await asked("/function_calls", editable("i2"));
      return { path, headers: ana, body: { approved: true, digest, kwargs: JSON.stringify({ VALUE }) } };
    },
    "a decision's value": async () => {
      const spec = { message: "Well?", response_schema: { type: "object" } };
      const { path } = await asked("/messages", message(spec));
      return { path, headers: ana, body: { value: { VALUE } } };
    },
  };

  for (const [name, request] of Object.entries(DOORS)) {
    it(`is gone through a few times in one turn and no more: ${name}`, async () => {
      const { path, headers, body } = await request();
      const text = JSON.stringify(body);
      assert.ok(text.length > 0.9 * BYTES && text.length < 1_048_576, `${text.length}`);
      const turns = watchTurns();
      try {
        const reply = await fetch(world.url + path, {
          method: "POST",
          body: text,
          headers: { "content-type": "application/json", ...headers },
        });
        await reply.arrayBuffer();
        assert.notEqual(reply.status, 413);
      } finally {
        turns.end();
      }
      const times = turns.most() / text.length;
      assert.ok(times >= 0.5, "it was looked at");
      assert.ok(times < MOST_PER_TURN, `${times.toFixed(1)} times in one turn`);
      assert.ok(turns.read() <= (name === "a call over MCP" ? 4 : 6), `read ${turns.read()} times`);
    });
  }

  it("looks at the arguments of one call of a page of the inbox after the other", async () => {
    const calls = 30;
    const kwargs = Object.fromEntries(Object.entries(VALUE).slice(0, 900));
    for (let i = 0; i < calls; i += 1) {
      const body = { run_id: "r", call_id: `p${i}`, spec: { fn: "refund", kwargs } };
      const made = await world.call("POST", `${A2H}/function_calls`, { headers: agent, body });
      assert.equal(made.status, 200, made.text);
    }
    const turns = watchTurns();
    try {
      const { body } = await world.call("GET", "/people/me/asks", { headers: ana });
      assert.ok(body.asks.length >= calls);
    } finally {
      turns.end();
    }
    const times = turns.most() / BYTES;
    assert.ok(times < MOST_PER_TURN, `as much as a whole body ${times.toFixed(1)} times in one turn`);
  });
});
