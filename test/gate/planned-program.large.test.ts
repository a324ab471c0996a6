import assert from "node:assert/strict";
import { mkdtempSync, existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createKey } from "../../src/access/create-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import { advanceUntil, fresh, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { gateSettings } from "../support/gate-settings.ts";
import { actionsOf } from "../support/gate.ts";
import { OPERATOR } from "../support/identities.ts";
import { start, type Run } from "../support/program.ts";

const FILES = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));
const UNANSWERING = fileURLToPath(new URL("../support/unanswering-tools.mjs", import.meta.url));
const SETTINGS = gateSettings({
  "files.write_file": { planned: true },
  "files.move_file": { planned: true },
  "tools.charge": { planned: true },
});

type Called = readonly [name: string, args: object];

describe("parley gate with planned tools in front of an MCP server", () => {
  const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, ...SETTINGS } });
  const folder = mkdtempSync(join(tmpdir(), "parley-planned-"));
  const at = (name: string) => join(folder, name);
  let operator: Decider;
  before(async () => {
    operator = await decider(world(), OPERATOR);
  });
  after(() => rmSync(folder, { recursive: true }));

  async function keyOf(): Promise<string> {
    return (await createKey(world().server.ctx, { name: fresh("bot"), scope: "agent" })).text;
  }
  /** Starts a gate with a client that has opened its connection. */
  function gate(name: string, key: string, program: readonly string[], flags: readonly string[] = []): Run {
    const args = ["gate", "--as", name, ...flags, "--", process.execPath, ...program];
    const run = start(args, { PARLEY_URL: world().url, PARLEY_KEY: key });
    const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    send(run, { id: "open", method: "initialize", params: client });
    send(run, { method: "notifications/initialized" });
    return run;
  }
  const send = (run: Run, message: object) =>
    run.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const callAll = (run: Run, calls: readonly Called[]) => {
    for (const [id, [name, args]] of calls.entries()) {
      send(run, { id, method: "tools/call", params: { name, arguments: args } });
    }
  };
  const answers = (run: Run, ids: readonly number[]) =>
    until(() => {
      const lines = run
        .out()
        .trim()
        .split("\n")
        .slice(0, -1)
        .concat(run.out().endsWith("\n") ? run.out().trim().split("\n").slice(-1) : []);
      const messages = lines
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as { id: unknown; result?: { isError?: boolean } });
      const found = ids.map((id) => messages.find((message) => message.id === id));
      return Promise.resolve(found.every((one) => one !== undefined) ? found : undefined);
    }, "the answers");
  async function over(run: Run): Promise<void> {
    run.child.stdin.end();
    assert.equal((await run.ended).code, 0);
  }
  const planAbout = (path: string) =>
    until(async () => {
      for (const { id } of await operator.inbox()) if ((await operator.whole(id)).text.includes(path)) return id;
      return undefined;
    }, "a plan in the inbox");
  const callIds = async (plan: string) =>
    (
      await world().server.ctx.db.all<{ ask_id: string }>(
        sql`SELECT ask_id FROM requests WHERE plan = ${plan} ORDER BY plan_ord`,
      )
    ).map((row) => row.ask_id);

  it("runs the calls of a plan in order, each after the one before, under one decision", async () => {
    const run = gate("files", await keyOf(), [FILES, folder]);
    callAll(run, [
      ["write_file", { path: at("a.txt"), content: "one" }],
      ["move_file", { source: at("a.txt"), destination: at("b.txt") }],
      ["write_file", { path: at("a.txt"), content: "two" }],
    ]);
    const plan = await planAbout("b.txt");
    assert.equal((await callIds(plan)).length, 3);
    assert.ok(!existsSync(at("a.txt")));
    await operator.decide(plan, { approved: true });
    const results = await answers(run, [0, 1, 2]);
    assert.ok(
      results.every((one) => one?.result && one.result.isError !== true),
      run.out(),
    );
    assert.deepEqual([readFileSync(at("a.txt"), "utf8"), readFileSync(at("b.txt"), "utf8")], ["two", "one"]);
    await over(run);
  });

  it("does not run the calls that were taken out", async () => {
    const run = gate("files", await keyOf(), [FILES, folder]);
    callAll(run, [
      ["write_file", { path: at("c.txt"), content: "one" }],
      ["write_file", { path: at("d.txt"), content: "two" }],
    ]);
    await operator.decide(await planAbout("d.txt"), { approved: true, approved_calls: 1 });
    const [first, second] = await answers(run, [0, 1]);
    assert.deepEqual([first?.result?.isError, second?.result?.isError], [undefined, true]);
    assert.match(run.out(), /rejected by operator: It was taken out of the plan/);
    assert.deepEqual([existsSync(at("c.txt")), existsSync(at("d.txt"))], [true, false]);
    await over(run);
  });

  it("finds the calls of a plan again, for a client that does not wait and after the gate was killed", async () => {
    const key = await keyOf();
    const calls: Called[] = [
      ["write_file", { path: at("e.txt"), content: "one" }],
      ["move_file", { source: at("e.txt"), destination: at("f.txt") }],
    ];
    const first = gate("files", key, [FILES, folder], ["--hold", "0s"]);
    callAll(first, calls);
    await answers(first, [0, 1]);
    const plan = await planAbout("f.txt");
    first.child.kill("SIGKILL");
    await first.ended;
    await operator.decide(plan, { approved: true });
    const next = gate("files", key, [FILES, folder]);
    callAll(next, calls);
    await answers(next, [0, 1]);
    assert.equal(readFileSync(at("f.txt"), "utf8"), "one");
    assert.equal((await operator.inbox()).length, 0);
    await over(next);
  });

  it("goes on behind a call whose gate was killed while it ran, once that is unknown", async () => {
    const key = await keyOf();
    const calls: Called[] = [
      ["charge", { cents: 41 }],
      ["charge", { cents: 42 }],
    ];
    const first = gate("tools", key, [UNANSWERING]);
    callAll(first, calls);
    const plan = await planAbout("charge");
    const [one = "", other = ""] = await callIds(plan);
    await operator.decide(plan, { approved: true });
    await until(() => Promise.resolve(first.err().includes("called")));
    first.child.kill("SIGKILL");
    const { err } = await first.ended;
    assert.equal(err.split("called").length - 1, 1);
    const next = gate("tools", key, [UNANSWERING]);
    send(next, { id: 1, method: "tools/call", params: { name: "charge", arguments: { cents: 42 } } });
    await advanceUntil(world(), 30_000, async () => (await actionsOf(world(), one)).includes("gate_call.unknown"));
    await until(() => Promise.resolve(next.err().includes('called {"cents":42}')));
    assert.ok((await actionsOf(world(), other)).includes("gate_call.started"));
    next.child.kill("SIGKILL");
    await next.ended;
  });
});
