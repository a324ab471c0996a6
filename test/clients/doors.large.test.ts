import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo } from "node:net";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { after, before, describe, it } from "node:test";
import { sha256Digest } from "../../src/lib/json/exact-json.ts";
import { makeSigningKey, publicPart, type Receipt, signReceipt } from "../../src/lib/receipt.ts";
import { until } from "../support/contract.ts";
import { itWith } from "../support/parts.ts";
import { environment, newFolder, type Run, start } from "../support/program.ts";
import { AWAY, json, ODD, openOddServer, type OddServer } from "./odd-server.ts";

const KEY = `parley_agent_${"x".repeat(38)}`;
const UNANSWERING = fileURLToPath(new URL("../support/unanswering-tools.mjs", import.meta.url));
const PYTHON = fileURLToPath(new URL("../../sdk-python/src", import.meta.url));
const itWithPython = await itWith("Python 3");

/** Returns a program's message about a server; throws if the program lets a call run. */
type Door = (url: string) => Promise<string>;

const DOORS: Record<string, Door> = {
  async hook(url) {
    const run = hook(url, { tool_name: "Bash", tool_input: { command: "ls" } });
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
  async worker(url) {
    const env = { PARLEY_URL: url, PARLEY_KEY: KEY };
    const run = start(["work", "--repo", `far=${newFolder()}`, "--data-dir", newFolder()], env);
    const { code, out, err } = await run.ended;
    assert.notEqual(code, 0);
    return out + err;
  },
};

function hook(url: string, more: object): Run {
  const run = start(["hook", "claude", "--timeout", "10s"], { PARLEY_URL: url, PARLEY_KEY: KEY });
  run.child.stdin.end(JSON.stringify({ hook_event_name: "PreToolUse", session_id: "s", ...more }));
  return run;
}

/** Asks each server, by a clock of its own that goes on while the program sleeps, and prints what became of it. */
const PROGRAM = `
import sys, time
from parley import Parley
now, naps = [time.monotonic()], [0]
def nap(seconds):
    now[0] += seconds
    naps[0] += 1
    if naps[0] > 50:
        raise RuntimeError("it was given up")
time.monotonic, time.sleep = lambda: now[0], nap
for url in sys.argv[2:]:
    naps[0] = 0
    client = Parley(url, key=sys.argv[1], retries=0, timeout=0.2 if url.endswith("/silent") else 30)
    refund = client.require_approval(name="refund")(lambda amount: sys.exit("it ran"))
    try:
        refund(amount=1)
    except Exception as error:
        print(type(error).__name__, error)
`;

/** Returns what the Python package says of each of these servers; fails where it lets something run. */
async function python(...urls: string[]): Promise<string[]> {
  const child = spawn("python3", ["-c", PROGRAM, KEY, ...urls], {
    env: { ...environment(), PYTHONPATH: PYTHON, PYTHONDONTWRITEBYTECODE: "1" },
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const [code] = (await once(child, "close")) as [number | null];
  assert.equal(code, 0, out + err);
  return out.trim().split("\n");
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
      const run = hook(url, { tool_name: "Bash", tool_input: { command: "ls" } });
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

describe("a program before an odd server", () => {
  let server: OddServer;
  before(async () => {
    server = await openOddServer();
  });
  after(() => server[Symbol.asyncDispose]());

  function assertRedirected(said: string): void {
    assert.ok(said.includes(`${server.origin} redirects to ${server.elsewhere}`), said);
    assert.ok(said.includes("PARLEY_URL"), said);
    assert.deepEqual(server.sentOn, []);
  }

  for (const [name, door] of Object.entries(DOORS)) {
    it(`${name}: lets nothing run by a redirect, and says where it leads`, async () => {
      assertRedirected(await door(server.at("redirect")));
    });
  }

  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "charge", arguments: {} } };
  const crashing: Record<string, readonly [string[], object]> = {
    hook: [["hook", "claude"], { hook_event_name: "PreToolUse", session_id: "s", tool_name: "Bash", tool_input: {} }],
    gate: [["gate", "--as", "tools", "--", process.execPath, UNANSWERING], call],
    bridge: [["mcp"], { ...call, params: { name: "approve", arguments: { tool_name: "Bash", input: {} } } }],
  };
  for (const [name, [words, input]] of Object.entries(crashing)) {
    it(`${name}: says nothing more where it is killed while it waits`, async () => {
      const run = start(words, { PARLEY_URL: server.at("silent"), PARLEY_KEY: KEY });
      server.onSilence = () => run.child.kill("SIGKILL");
      run.child.stdin.write(`${JSON.stringify(input)}\n`);
      if (name === "hook") run.child.stdin.end();
      const { code, out, err } = await run.ended;
      assert.deepEqual([code, out, err], [null, "", ""]);
    });
  }

  it("hook: gives Claude Code's own question no answer where the reply holds none", async () => {
    const questions = [{ question: "Which plan?", header: "Plan", options: [], multiSelect: false }];
    const run = hook(server.at("fields"), { tool_name: "AskUserQuestion", tool_input: { questions } });
    const { out } = await run.ended;
    assert.match(out, /"permissionDecision":"ask".*holds no answer/);
  });

  itWithPython("Python SDK: lets nothing run by an odd reply, or one of another version or call", async () => {
    const said = await python(...ODD.map((how) => server.at(how)));
    assert.equal(said.length, ODD.length, said.join("\n"));
    for (const line of said) assert.match(line, /^(ParleyError|Approval(Rejected|Mismatch)|RuntimeError) /);
  });

  itWithPython("Python SDK: lets nothing run where no server answers, the reply is cut, or none comes", async () => {
    const said = await python(...AWAY.map((how) => server.at(how)));
    assert.equal(said.length, AWAY.length, said.join("\n"));
    for (const line of said) assert.match(line, /^Unreachable No reply from /);
  });

  itWithPython("Python SDK: lets nothing run by a redirect, and says where it leads", async () => {
    assertRedirected((await python(server.at("redirect"))).join());
  });
});
