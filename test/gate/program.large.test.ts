import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createKey } from "../../src/access/create-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import { advanceUntil, fresh, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { actionsOf } from "../support/gate.ts";
import { OPERATOR } from "../support/identities.ts";
import { environment, MAIN, start } from "../support/program.ts";

const FILES = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));
const UNANSWERING = fileURLToPath(new URL("../support/unanswering-tools.mjs", import.meta.url));
const RULES = `version: 1
rules:
  - { id: reads, when: { fn: [ files.read_text_file, files.list_directory, tools.charge ] }, decision: ALLOW }
  - { id: no-moves, when: { fn: files.move_file }, decision: DENY, reason: Nothing is moved }
`;

interface Result {
  content: { type: string; text: string }[];
  isError?: boolean;
  _meta?: { "parley/gate": Record<string, unknown> };
}

describe("parley gate in front of an MCP server", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  const folder = mkdtempSync(join(tmpdir(), "parley-gated-"));
  const clients: Client[] = [];
  let operator: Decider;
  before(async () => {
    writeFileSync(world().config.relay.policyFile, RULES);
    writeFileSync(join(folder, "a.txt"), "as it is\n");
    await world().server.reload();
    operator = await decider(world(), OPERATOR);
  });
  after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    rmSync(folder, { recursive: true });
  });

  async function gateEnv(): Promise<Record<string, string>> {
    const { text } = await createKey(world().server.ctx, { name: fresh("bot"), scope: "agent" });
    return { PARLEY_URL: world().url, PARLEY_KEY: text };
  }
  const gated = (name: string, flags: readonly string[], program: readonly string[]) => [
    MAIN,
    "gate",
    "--as",
    name,
    ...flags,
    "--",
    process.execPath,
    ...program,
  ];
  async function open(args: readonly string[], env: Record<string, string> = {}): Promise<Client> {
    const client = new Client({ name: "test-agent", version: "1.0.0" });
    const full = Object.entries(environment(env)).filter((pair): pair is [string, string] => pair[1] !== undefined);
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...args],
        env: Object.fromEntries(full),
        stderr: "ignore",
      }),
    );
    clients.push(client);
    return client;
  }
  const openGated = async (...flags: string[]) => open(gated("files", flags, [FILES, folder]), await gateEnv());
  const call = async (client: Client, name: string, args: object, options = {}) =>
    (await client.callTool({ name, arguments: { ...args } }, undefined, options)) as unknown as Result;
  const at = (name: string) => join(folder, name);
  /** Waits for a request about this file in the inbox. */
  const requestAbout = (path: string) =>
    until(async () => {
      for (const { id } of await operator.inbox()) {
        if ((await operator.whole(id)).text.includes(path)) return id;
      }
      return undefined;
    });

  it("shows the client what the server shows without it, and passes what a rule allows", async () => {
    const [bare, through] = [await open([FILES, folder]), await openGated()];
    const seen = async (client: Client) => [
      client.getServerVersion(),
      client.getServerCapabilities(),
      client.getInstructions(),
      await client.listTools(),
      await call(client, "read_text_file", { path: at("a.txt") }),
      await call(client, "list_directory", { path: folder }),
      await call(client, "read_text_file", { path: at("nowhere.txt") }),
      await client.ping(),
    ];
    assert.deepEqual(await seen(through), await seen(bare));
    await assert.rejects(call(through, "no_such_tool", {}), /Unknown tool: no_such_tool/);
  });

  it("holds a write until a person approves it, and then writes", async () => {
    const client = await openGated();
    const progress: number[] = [];
    const writing = call(
      client,
      "write_file",
      { path: at("b.txt"), content: "hello" },
      { onprogress: (one: { progress: number }) => void progress.push(one.progress), resetTimeoutOnProgress: true },
    );
    const id = await requestAbout("b.txt");
    await until(() => Promise.resolve(progress.length > 0));
    assert.throws(() => readFileSync(at("b.txt")), /ENOENT/);
    assert.equal((await operator.decide(id, { approved: true })).status, 200);
    const result = await writing;
    assert.deepEqual([result.isError, readFileSync(at("b.txt"), "utf8")], [undefined, "hello"]);
    assert.deepEqual((await actionsOf(world(), id)).slice(-2), ["gate_call.started", "gate_call.ended"]);
  });

  it("writes what a person made of it, and says so", async () => {
    const writing = call(await openGated(), "write_file", { path: at("c.txt"), content: "much" });
    const id = await requestAbout("c.txt");
    const kwargs = { path: at("c.txt"), content: "little" };
    assert.equal((await operator.decide(id, { approved: true, kwargs })).status, 200);
    const { content, _meta } = await writing;
    assert.equal(readFileSync(at("c.txt"), "utf8"), "little");
    assert.match(content.at(-1)?.text ?? "", /ran with arguments that operator changed before approving: .*little/);
    assert.deepEqual(_meta?.["parley/gate"], { state: "edited", arguments: kwargs });
  });

  it("gives the client a person's no, with who and why, and a rule's", async () => {
    const client = await openGated();
    const writing = call(client, "write_file", { path: at("d.txt"), content: "x" });
    await operator.decide(await requestAbout("d.txt"), { approved: false, comment: "Not in this folder" });
    const no = await writing;
    assert.equal(no.isError, true);
    assert.match(no.content[0]?.text ?? "", /did not run: rejected by operator: Not in this folder/);
    assert.throws(() => readFileSync(at("d.txt")), /ENOENT/);
    const ruled = await call(client, "move_file", { source: at("a.txt"), destination: at("z.txt") });
    assert.equal(ruled.isError, true);
    assert.match(ruled.content[0]?.text ?? "", /rejected by policy: no-moves: Nothing is moved/);
  });

  it("tells a client that does not wait what to do, and gives the outcome to the same call", async () => {
    const client = await openGated("--hold", "0s");
    const write = () => call(client, "write_file", { path: at("e.txt"), content: "later" });
    const pending = await write();
    assert.equal(pending.isError, true);
    assert.match(pending.content[0]?.text ?? "", /has not run yet: .*make exactly the same call again/s);
    assert.equal(pending._meta?.["parley/gate"]["state"], "pending");
    const id = await requestAbout("e.txt");
    assert.match((await write()).content[0]?.text ?? "", /has not run yet/);
    await operator.decide(id, { approved: true });
    assert.throws(() => readFileSync(at("e.txt")), /ENOENT/, "nothing runs while its agent is away");
    assert.equal((await write()).isError, undefined);
    assert.equal(readFileSync(at("e.txt"), "utf8"), "later");
  });

  it("leaves a call unknown whose gate is killed while it runs, and asks a person before it runs again", async () => {
    const env = await gateEnv();
    const gate = start(gated("tools", [], [UNANSWERING]).slice(1), env);
    const send = (message: object) => gate.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const charge = { name: "charge", arguments: { cents: 4200 } };
    send({ id: 1, method: "tools/call", params: charge });
    await until(() => Promise.resolve(gate.err().includes("called")));
    gate.child.kill("SIGKILL");
    await gate.ended;
    const rows = await world().server.ctx.db.all<{ ask_id: string }>(
      sql`SELECT ask_id FROM gate_calls WHERE tool = 'charge'`,
    );
    const requestId = rows[0]?.ask_id ?? "";
    await advanceUntil(world(), 30_000, async () =>
      (await actionsOf(world(), requestId)).includes("gate_call.unknown"),
    );

    const next = start(gated("tools", ["--hold", "0s"], [UNANSWERING]).slice(1), env);
    next.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: charge })}\n`);
    await until(() => Promise.resolve(next.out().includes("has not run yet")));
    assert.ok(!next.err().includes("called"), "the rule allows it, but it may have run already");
    next.child.stdin.end();
    assert.equal((await next.ended).code, 0);
  });

  it("passes on nothing that another parser could read as a call", async () => {
    const gate = start(gated("tools", [], [UNANSWERING]).slice(1), await gateEnv());
    const lines = [
      '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"charge"}}]',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","method":"ping","params":{"name":"charge"}}',
      '{"jsonrpc":"2.0","id":3,"method":"ping","Method":"tools/call","params":{"name":"charge"}}',
      '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"charge","Arguments":{}}}',
      '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"charge"}}',
      "not JSON",
      '{"jsonrpc":"2.0","id":9,"method":"ping"}',
    ];
    gate.child.stdin.write(`${lines.join("\n")}\n`);
    await until(() => Promise.resolve(gate.out().includes('"id":9')));
    gate.child.stdin.end();
    const { out, err } = await gate.ended;
    const answers = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: unknown; error?: { code: number } });
    assert.deepEqual(
      answers.map(({ id, error }) => [id, error?.code]),
      [
        [null, -32600],
        [null, -32700],
        [3, -32600],
        [4, -32600],
        [null, -32700],
        [9, undefined],
      ],
    );
    assert.ok(!err.includes("called"), err);
  });

  it("ends with its client, also where a process of the server's goes on and keeps the output open", async () => {
    const script = `const { spawn } = require("node:child_process");
      const { pid } = spawn("sleep", ["600"], { stdio: ["ignore", "inherit", "ignore"] });
      console.error("left " + pid); console.log("{}"); process.stdin.resume().on("end", () => process.exit(0));`;
    const gate = start(gated("tools", [], ["-e", script]).slice(1), await gateEnv());
    await until(() => Promise.resolve(/left \d+/.test(gate.err())));
    const pid = Number(/left (\d+)/.exec(gate.err())?.[1]);
    gate.child.stdin.end();
    try {
      assert.equal((await gate.ended).code, 0);
    } finally {
      process.kill(pid);
    }
  });

  it("runs nothing where no server answers, or the key is none", async () => {
    const env = { PARLEY_URL: world().url, PARLEY_KEY: `parley_agent_${"0".repeat(38)}` };
    const gate = start(gated("tools", [], [UNANSWERING]).slice(1), env);
    gate.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"charge"}}\n');
    await until(() => Promise.resolve(gate.out().includes("The call did not run: A valid key is required.")));
    gate.child.stdin.end();
    assert.ok(!(await gate.ended).err.includes("called"));
  });
});
