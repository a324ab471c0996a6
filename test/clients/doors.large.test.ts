import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo } from "node:net";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { after, before, describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import { sha256Digest } from "../../src/lib/exact-json.ts";
import { makeSigningKey, publicPart, type Receipt, signReceipt } from "../../src/lib/receipt.ts";
import { until } from "../support/contract.ts";
import { itWith } from "../support/parts.ts";
import { environment, start } from "../support/program.ts";

const KEY = `parley_agent_${"x".repeat(38)}`;
const UNANSWERING = fileURLToPath(new URL("../support/unanswering-tools.mjs", import.meta.url));
const PYTHON = fileURLToPath(new URL("../../sdk-python/src", import.meta.url));
const itWithPython = await itWith("Python 3");

/** Who says yes in a form that is not Parley's, or is nobody to say it. */
const json = (body: unknown): RequestListener => {
  return (_, reply) => void reply.setHeader("content-type", "application/json").end(JSON.stringify(body));
};
const ODD: Record<string, RequestListener> = {
  page: (_, reply) => void reply.setHeader("content-type", "text/html").end("<html>approved"),
  nothing: (_, reply) => void reply.writeHead(204).end(),
  null: json(null),
  list: json([{ approved: true }]),
  version: json({ v: 9, decision: "approved", approved: true, state: "started" }),
  other: json({ call_id: "another", status: { approved: true, resolved_at: "2026-01-01T00:00:00Z", ask_id: "ask_1" } }),
  refused: (_, reply) => void reply.writeHead(403, { "content-type": "text/plain" }).end("approved"),
};

/** What a door says of a server; it throws where the door lets something run. */
type Door = (url: string) => Promise<string>;

const DOORS: Record<string, Door> = {
  async hook(url) {
    const run = start(["hook", "claude", "--timeout", "10s"], { PARLEY_URL: url, PARLEY_KEY: KEY });
    const input = { hook_event_name: "PreToolUse", session_id: "s", tool_name: "Bash", tool_input: { command: "ls" } };
    run.child.stdin.end(JSON.stringify(input));
    const { out, err } = await run.ended;
    assert.match(out, /"permissionDecision":"(ask|deny)"/);
    return out + err;
  },
  async gate(url) {
    const flags = ["gate", "--as", "tools", "--", process.execPath, UNANSWERING];
    const run = start(flags, { PARLEY_URL: url, PARLEY_KEY: KEY });
    run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"charge"}}\n');
    const line = await until(() => Promise.resolve(/.*"id":1[,}].*/.exec(run.out())?.[0]));
    run.child.stdin.end();
    const { err } = await run.ended;
    assert.ok(!err.includes("called"), err);
    return line + err;
  },
  async bridge(url) {
    const run = start(["mcp"], { PARLEY_URL: url, PARLEY_KEY: KEY });
    const params = { name: "approve", arguments: { tool_name: "Bash", input: { command: "ls" } } };
    run.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    const line = await until(() => Promise.resolve(/.*"id":1[,}].*/.exec(run.out())?.[0]));
    run.child.stdin.end();
    const { err } = await run.ended;
    assert.ok("error" in (JSON.parse(line) as object), line);
    return line + err;
  },
  async "TypeScript SDK"(url) {
    const parley = new Parley({ url, key: KEY });
    return thrown(parley.approve({ fn: "refund", args: { amount: 1 } }));
  },
};

async function python(url: string): Promise<string> {
  const code = `import sys; from parley import Parley
try:
    Parley(sys.argv[1], key=sys.argv[2], retries=0).approve("refund", {"amount": 1})
except Exception as error:
    print(type(error).__name__, error)
else:
    sys.exit(9)`;
  const child = spawn("python3", ["-c", code, url, KEY], {
    env: { ...environment(), PYTHONPATH: PYTHON, PYTHONDONTWRITEBYTECODE: "1" },
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const [code_] = (await once(child, "close")) as [number | null];
  assert.equal(code_, 0, out);
  return out;
}

async function thrown(work: Promise<unknown>): Promise<string> {
  let message = "";
  await assert.rejects(work, (error: Error) => {
    message = error.message;
    return true;
  });
  return message;
}

const [key, stranger] = [await makeSigningKey(), await makeSigningKey()];

/** Approves whatever a hook asks, with this receipt of it, and these keys. */
function approving(receiptOf: (said: object) => Promise<string> | null, keys: unknown): RequestListener {
  let asked = { call_id: "", spec: { fn: "", kwargs: {} } };
  return (request, reply) => {
    let body = "";
    request.on("data", (part) => (body += String(part)));
    request.on("end", async () => {
      const path = request.url ?? "";
      if (path.endsWith("/function_calls")) asked = JSON.parse(body) as typeof asked;
      const { call_id, spec } = asked;
      const consent_digest = sha256Digest(JSON.stringify({ fn: spec.fn, kwargs: spec.kwargs }));
      const receipt = await receiptOf({
        v: 1,
        door: "a2h",
        jti: "ask_1",
        call_id,
        consent_digest,
        outcome: "approved",
      });
      if (path.startsWith("/receipts/"))
        return void (receipt === null ? reply.writeHead(404).end() : reply.end(receipt));
      if (path.startsWith("/.well-known/")) return void json({ keys })(request, reply);
      const status = { approved: true, consent_digest, ask_id: "ask_1", resolved_at: "2026-01-01T00:00:00Z" };
      json({ call_id, spec, status })(request, reply);
    });
  };
}

describe("the hook, where a server approves", () => {
  const agent = "agent:coder";
  const asked_at = Date.now();
  const signed = (said: object, by = key) =>
    signReceipt({ ...said, agent, asked_at, settled_at: asked_at } as Receipt, by);
  for (const [name, isAllowed, receiptOf, keys] of [
    ["goes on with a right receipt", true, signed, [publicPart(key)]],
    ["goes on where the server signs nothing", true, () => null, undefined],
    ["stops where a server that signs shows none", false, () => null, [publicPart(key)]],
    ["stops where another has signed", false, (said: object) => signed(said, stranger), [publicPart(key)]],
    ["stops where the server names no keys for its receipt", false, signed, []],
    [
      "stops where it is of another call",
      false,
      (said: object) => signed({ ...said, call_id: "a" }),
      [publicPart(key)],
    ],
    [
      "stops where it is of another agent",
      false,
      (said: object) => signReceipt({ ...said, agent: "open:x" } as Receipt, key),
      [publicPart(key)],
    ],
    [
      "stops where it is older",
      false,
      (said: object) => signReceipt({ ...said, agent, asked_at: 1, settled_at: 2 } as Receipt, key),
      [publicPart(key)],
    ],
  ] as const) {
    it(name, async () => {
      const server = createServer(approving(receiptOf, keys));
      await once(server.listen(0, "127.0.0.1"), "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const run = start(["hook", "claude", "--timeout", "10s"], { PARLEY_URL: url, PARLEY_KEY: KEY });
      const input = {
        hook_event_name: "PreToolUse",
        session_id: "s",
        tool_name: "Bash",
        tool_input: { command: "ls" },
      };
      run.child.stdin.end(JSON.stringify(input));
      const { out } = await run.ended;
      server.closeAllConnections();
      server.close();
      assert.match(
        out,
        isAllowed ? /"permissionDecision":"allow"/ : /"permissionDecision":"deny".*"Not approved, because /,
      );
    });
  }
});

describe("a door before an odd server", () => {
  const heard: string[] = [];
  const elsewhere = createServer((request, reply) => {
    heard.push(String(request.url));
    json({ approved: true })(request, reply);
  });
  const odd = createServer((request, reply) => {
    const [, name = "", ...path] = (request.url ?? "").split("/");
    request.resume().on("end", () => {
      if (name !== "redirect") return void (ODD[name] ?? assert.fail(name))(request, reply);
      reply.writeHead(307, { location: `${originOf(elsewhere)}/${path.join("/")}` }).end();
    });
  });
  const originOf = (server: typeof odd) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  before(async () => {
    for (const server of [odd, elsewhere]) await once(server.listen(0, "127.0.0.1"), "listening");
  });
  after(() => {
    for (const server of [odd, elsewhere]) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function holds(door: Door): Promise<void> {
    for (const name of Object.keys(ODD)) await door(`${originOf(odd)}/${name}`);
    const said = await door(`${originOf(odd)}/redirect`);
    assert.ok(said.includes(`${originOf(odd)} redirects to ${originOf(elsewhere)}`), said);
    assert.ok(said.includes("PARLEY_URL"), said);
    assert.deepEqual(heard, []);
  }
  for (const [name, door] of Object.entries(DOORS)) {
    it(`${name}: lets nothing run, and says where a redirect leads`, () => holds(door));
  }
  itWithPython("Python SDK: lets nothing run, and says where a redirect leads", () => holds(python));
});
