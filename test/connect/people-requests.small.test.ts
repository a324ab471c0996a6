import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { askPeople } from "../../src/connect/people-requests.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { HttpExchange } from "../../src/lib/network/exchange.ts";

const replied = (body: object) => ({ status: 200, bytes: Buffer.from(JSON.stringify(body)) });

describe("a request to people that nobody waits for any more", () => {
  it("is withdrawn after it is stored, also where it was still on its way", async () => {
    const left = new AbortController();
    const seen: string[] = [];
    /** A server that stores a request even if its client does not wait for the reply. */
    const exchange: HttpExchange = async (url, { signal, method }) => {
      const isCancel = url.endsWith("/cancel");
      if (!isCancel) left.abort();
      const done = new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      const stored = done.then(() => seen.push(isCancel ? "cancelled" : method));
      const gone = new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
      if (signal.aborted) throw new Error("aborted");
      await Promise.race([stored, gone]);
      return replied({ call_id: "c", status: {} });
    };
    const place = {
      url: "http://parley",
      key: undefined,
      agentId: "a",
      clock: systemClock,
      exchange,
      signal: left.signal,
      leaseSeconds: 90,
    };
    const request = { run_id: "r", call_id: "c", agent_prompt: {}, spec: { timeout_seconds: 60 } };
    const asked = askPeople(place, "function_calls", request);
    await assert.rejects(asked, /withdrawn/);
    assert.deepEqual(seen, ["POST", "cancelled"]);
  });
});

describe("a reply that is none of Parley's", () => {
  const { signal } = new AbortController();
  const resolved = { resolved_at: "2026-11-20T10:00:00.000Z", approved: true };
  const asked = async (reply: { status: number; bytes: Buffer }) => {
    const place = { url: "http://parley", key: undefined, agentId: "a", clock: systemClock, signal, leaseSeconds: 90 };
    const request = { run_id: "r", call_id: "c", agent_prompt: {}, spec: { timeout_seconds: 60 } };
    return askPeople({ ...place, exchange: async () => reply }, "function_calls", request);
  };

  it("decides nothing where a member of its status has another type", async () => {
    const members = { comment: 5, user_info: { name: 7, id: {} }, receipt: [], approved: "yes", expired: 0 };
    for (const [name, value] of Object.entries(members)) {
      const status = { ...resolved, [name]: value };
      await assert.rejects(asked(replied({ call_id: "c", status })), /The server's reply has another form\.$/, name);
    }
  });

  it("decides by what is there where other members are null", async () => {
    const status = { ...resolved, comment: null, user_info: null, expired: null };
    assert.deepEqual((await asked(replied({ call_id: "c", status }))).ended, resolved);
  });

  it("is told apart from a refusal, whose words are one line that shows all it holds", async () => {
    const html = { status: 200, bytes: Buffer.from("<!doctype html><title>Router</title>") };
    await assert.rejects(asked(html), /What answers at http:\/\/parley is no Parley server: .* status 200\.$/);
    const refused = { status: 422, bytes: Buffer.from(JSON.stringify({ error: { message: "No\n\u001b[1mrun it" } })) };
    await assert.rejects(asked(refused), /Parley refused the request: No\\u000a\\u001b\[1mrun it$/);
  });
});

describe("a reply about another request", () => {
  const { signal } = new AbortController();
  const status = { approved: true, resolved_at: "2026-11-20T10:00:00.000Z" };
  const askedWith = async (use: string | undefined, reply: object) => {
    const exchange: HttpExchange = async () => replied({ call_id: "other", status, ...reply });
    const place = { url: "http://parley", key: undefined, agentId: "a", clock: systemClock, exchange, signal };
    const request = { run_id: "r", call_id: "c", agent_prompt: use === undefined ? {} : { use } };
    const spec = { timeout_seconds: 60 };
    return askPeople({ ...place, leaseSeconds: 90 }, "function_calls", { ...request, spec });
  };

  it("counts only where it is about the same use of a tool, which another hook asks about", async () => {
    for (const [use, reply] of [
      [undefined, {}],
      ["u", {}],
      ["u", { agent_prompt: { use: "v" } }],
      [undefined, { agent_prompt: {} }],
    ] as const)
      await assert.rejects(askedWith(use, reply), /another request/);
    const { callId, ended } = await askedWith("u", { agent_prompt: { use: "u" } });
    assert.deepEqual([callId, ended.approved], ["other", true]);
  });
});
