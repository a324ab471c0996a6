import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { advanceUntil, fresh, ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { gateSettings } from "../support/gate-settings.ts";
import { gatedServer, type GatedServer, type Sent } from "../support/gateway.ts";
import { OPERATOR } from "../support/identities.ts";

const QUIET_MS = 200;
const TOOLS = ["write_file", "delete_file", "alone", "purge", "show", "erase"].map((name) => ({
  name,
  inputSchema: { type: "object" },
}));
const SETTINGS = gateSettings({
  "files.write_file": { planned: true },
  "files.delete_file": { planned: true },
  "files.purge": { preview: { tool: "show" } },
  "files.erase": { preview: { arguments: { dry_run: true } } },
});

const done = ({ id, params }: Sent) =>
  JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: params.name }] } });

describe("a gate whose client sends several calls at once", () => {
  const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, ...SETTINGS } });
  let operator: Decider;
  before(async () => {
    operator = await decider(world(), OPERATOR);
  });

  async function open(answer: (call: Sent) => string | undefined = done): Promise<GatedServer> {
    const server = await gatedServer(world(), answer, TOOLS);
    server.say({ id: "list", method: "tools/list" });
    await server.answerTo("list");
    return server;
  }
  const say = (server: GatedServer, id: string, name: string, path = fresh("file")) =>
    server.say({ id, method: "tools/call", params: { name, arguments: { path } } });
  /** Lets the calls come to rest that wait for more of them. */
  async function rest(times = 1): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      await until(() => Promise.resolve(world().clock.isAwaited(QUIET_MS)), "a call that waits for others");
      world().clock.advance(QUIET_MS);
    }
  }
  const waitingPlan = (path: string) =>
    until(async () => {
      for (const { id } of await operator.inbox()) if ((await operator.whole(id)).text.includes(path)) return id;
      return undefined;
    }, "a request about the file");
  const callsOf = async (plan: string) =>
    (
      await world().server.ctx.db.all<{ fn: string }>(
        sql`SELECT fn FROM requests WHERE plan = ${plan} ORDER BY plan_ord`,
      )
    ).map(({ fn }) => fn);

  it("puts them to people as one plan, and runs them one after the other in the order in which they came", async () => {
    let [running, most] = [0, 0];
    const server = await open((call) => {
      most = Math.max(most, (running += 1));
      setImmediate(() => {
        running -= 1;
        server.gateway.fromServer(done(call));
      });
      return undefined;
    });
    const path = fresh("file");
    say(server, "1", "write_file", path);
    say(server, "2", "delete_file", path);
    say(server, "3", "write_file");
    await rest(2);
    const plan = await waitingPlan(path);
    assert.deepEqual(await callsOf(plan), ["files.write_file", "files.delete_file", "files.write_file"]);
    assert.equal((await operator.inbox()).length, 1);
    assert.equal((await operator.decide(plan, { approved: true })).status, 200);
    const answers = await Promise.all(["1", "2", "3"].map((id) => server.answerTo(id)));
    assert.ok(
      answers.every(({ result }) => (result as { isError?: boolean }).isError !== true),
      JSON.stringify(answers),
    );
    assert.deepEqual(
      server.calls.map(({ id }) => id),
      ["1", "2", "3"],
    );
    assert.equal(most, 1);
  });

  it("asks about a call alone that no other follows, and about calls of other tools at once", async () => {
    const server = await open();
    const [path, other] = [fresh("file"), fresh("file")];
    say(server, "1", "write_file", path);
    say(server, "2", "alone", other);
    const alone = await waitingPlan(other);
    await rest();
    const single = await waitingPlan(path);
    for (const id of [alone, single]) {
      assert.deepEqual(await callsOf(id), []);
      assert.equal((await operator.decide(id, { approved: true })).status, 200);
    }
    await server.answerTo("1");
  });

  it("leaves out a call that its client cancels meanwhile", async () => {
    const server = await open();
    const path = fresh("file");
    say(server, "1", "write_file", path);
    say(server, "2", "delete_file");
    say(server, "3", "delete_file");
    await until(() => Promise.resolve(world().clock.isAwaited(QUIET_MS)));
    server.say({ method: "notifications/cancelled", params: { requestId: "2" } });
    await rest(2);
    const plan = await waitingPlan(path);
    assert.equal((await callsOf(plan)).length, 2);
    assert.equal((await operator.decide(plan, { approved: false })).status, 200);
    assert.match(JSON.stringify(await server.answerTo("3")), /did not run: rejected by operator/);
    assert.equal(server.calls.length, 0);
  });

  it("counts a slow preview in the time for which a client is held, and sends progress meanwhile", async () => {
    const { clock } = world();
    const shown: Sent[] = [];
    const server = await open((call) => (call.params.name === "show" ? void shown.push(call) : done(call)));
    const path = fresh("file");
    const start = clock.monotonic();
    const params = { name: "purge", arguments: { path } };
    server.say({ id: "held", method: "tools/call", params });
    server.say({ id: "told", method: "tools/call", params: { ...params, _meta: { progressToken: "t" } } });
    await until(() => Promise.resolve(shown.length === 2), "two previews");
    await advanceUntil(world(), 10_000, () => Promise.resolve(clock.monotonic() - start >= 40_000));
    assert.match(server.toClient.join(), /"progressToken":"t"/);
    for (const { id } of shown) {
      const result = { structuredContent: { targets: [path] } };
      server.gateway.fromServer(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
    await waitingPlan(path);
    await advanceUntil(world(), 1000, () => Promise.resolve(server.toClient.some((line) => line.includes('"held"'))));
    assert.ok(clock.monotonic() - start < 60_000, "clients give up after a minute");
  });

  it("does not preview a call by an argument that its tool does not have, because the server would run it", async () => {
    const server = await open();
    say(server, "1", "erase");
    assert.match(JSON.stringify(await server.answerTo("1")), /erase did not run: .*has no argument dry_run/);
    assert.equal(server.calls.length, 0);
  });
});
