import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { examineStore } from "../../src/doctor/examine.ts";
import { startCall } from "../../src/gate/start-call.ts";
import { findGateCall } from "../../src/gate/store/gate-calls.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { advanceUntil, fresh, HOUR, MINUTE, ROOMY, sharedWorld } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { gateSettings } from "../support/gate-settings.ts";
import { actionsOf, gateClient, toolOf, type GateClient } from "../support/gate.ts";
import { OPERATOR } from "../support/identities.ts";
import { DATABASES } from "../support/world.ts";

const RULES = `version: 1
rules:
  - { id: reads, when: { fn: files.read_file }, decision: ALLOW }
  - { id: no-drops, when: { fn: files.drop }, decision: DENY, reason: Not by agents }
`;
const TOOLS = ["write_file", "delete_file", "read_file"];
const WAY = { tool: "list_file" };
const SETTINGS = gateSettings({
  ...Object.fromEntries(TOOLS.map((tool) => [`files.${tool}`, { planned: true }])),
  "files.purge": { planned: true, preview: WAY },
  "files.drop": { preview: WAY },
});

type Called = readonly [tool: string, args: object];

for (const on of DATABASES) {
  describe(`a plan of calls behind a gate, on ${on}`, () => {
    const world = sharedWorld({ on, env: { ...ROOMY, ...SETTINGS } });
    let operator: Decider;
    before(async () => {
      writeFileSync(world().config.relay.policyFile, RULES);
      await world().server.reload();
      operator = await decider(world(), OPERATOR);
    });

    const write = (): Called => ["write_file", { path: fresh("file") }];
    const remove = (): Called => ["delete_file", { path: fresh("file") }];

    async function plan(bot: GateClient, calls: readonly Called[], more: object = {}): Promise<string | null> {
      const { status, body, text } = await bot.post("/gate/plans", {
        gate: "files",
        run: fresh("run"),
        calls: calls.map(([tool, args]) => ({ tool: toolOf(tool), arguments: args })),
        ...more,
      });
      assert.equal(status, 200, text);
      return (body as { plan: string | null }).plan;
    }
    /** Puts calls to people, and returns the plan and how each stands then. */
    async function planned(calls: readonly Called[]) {
      const bot = await gateClient(world());
      const id = (await plan(bot, calls)) ?? assert.fail("no plan was made");
      const ask = async (at: number, more: object = {}) => {
        const [tool, args] = calls[at] ?? assert.fail();
        return (await bot.ask(tool, args, more)).body;
      };
      return { bot, id, ask, decide: (answer: object) => operator.decide(id, answer) };
    }

    it("is one request in the inbox, and its calls wait by themselves and are found again", async () => {
      const { bot, id, ask } = await planned([write(), remove()]);
      const ids = [(await ask(0)).id, (await ask(1)).id];
      assert.deepEqual([(await ask(0)).state, (await ask(1)).id], ["waiting", ids[1]]);
      assert.equal(new Set([id, ...ids]).size, 3);
      const inbox = (await operator.inbox()).map((one) => one.id);
      assert.deepEqual(
        inbox.filter((one) => [id, ...ids].includes(one)),
        [id],
      );
      assert.match((await operator.whole(id)).text, /write_file.*delete_file/s);
      await operator.decide(id, { approved: false, comment: "Not today" });
      const { body } = await bot.ask("other", {});
      assert.equal(body.state, "waiting");
      assert.deepEqual([(await ask(1)).state, (await ask(0)).comment], ["denied", "Not today"]);
    });

    it("runs in its order, each call once, when the one before has ended", async () => {
      const { bot, ask, decide } = await planned([write(), remove(), write()]);
      const first = await ask(0);
      assert.equal((await decide({ approved: true })).status, 200);
      const early = await ask(1);
      assert.deepEqual([early.state, early.status], ["waiting", "approved"]);
      assert.equal((await ask(0, { run: "a" })).state, "started");
      assert.deepEqual((await ask(0, { run: "a" })).id, first.id, "a lost reply is told again");
      assert.equal((await ask(2, { run: "c" })).state, "waiting");
      const second = ask(1, { run: "b", wait_seconds: 60 });
      assert.deepEqual(await bot.ended(first.id, { run: "a" }), { state: "ended" });
      const { state, id, edited } = await second;
      assert.deepEqual([state, id, edited], ["started", early.id, false]);
      assert.deepEqual(await actionsOf(world(), id), [
        "function_call.created",
        "function_call.approved",
        "function_call.used",
        "gate_call.started",
      ]);
      const again = await ask(1, { run: "other" });
      assert.deepEqual([again.state, again.id === id], ["waiting", false], "one approval is one run");
    });

    it("runs the next call after one without a known end", async () => {
      const { bot, ask, decide } = await planned([write(), remove(), remove()]);
      await decide({ approved: true });
      const first = await ask(0, { run: "a" });
      assert.deepEqual(await bot.ended(first.id, { run: "a", outcome: "lost" }), { state: "unknown" });
      const second = await ask(1, { run: "b" });
      assert.equal(second.state, "started");
      await advanceUntil(world(), 10_000, async () => (await ask(2, { run: "c" })).state === "started");
      assert.ok((await actionsOf(world(), second.id)).includes("gate_call.unknown"));
    });

    it("denies the calls that were taken out, with the comment", async () => {
      const { ask, decide } = await planned([write(), remove(), remove()]);
      await decide({ approved: true, approved_calls: 1, comment: "keep them" });
      const ends = [await ask(1), await ask(2)].map(({ state, comment }) => [state, comment]);
      assert.deepEqual(ends, [
        ["denied", "It was taken out of the plan: keep them"],
        ["denied", "It stands behind a call that was taken out of the plan: keep them"],
      ]);
      assert.equal((await ask(0)).state, "started");
    });

    it("leaves out calls that rules decide, that wait already and that are twice; of one call none is made", async () => {
      const bot = await gateClient(world());
      const [one, other] = [write(), remove()];
      assert.equal(await plan(bot, [one, ["read_file", { path: "a" }], ["drop", {}], one, ["unplanned", {}]]), null);
      assert.equal((await bot.ask(...one)).body.state, "waiting");
      assert.equal(await plan(bot, [one, other]), null);
      const id = await plan(bot, [other, one, ["read_file", { path: "a" }], write()]);
      assert.equal((await readRequest(world().server.ctx, id ?? "")).title, "2 calls");
      assert.equal((await bot.ask("read_file", { path: "a" })).body.state, "started");
      assert.equal((await bot.ask("drop", {})).body.comment, "Not by agents");
    });

    it("is made once by one attempt, and refused as a list of none", async () => {
      const bot = await gateClient(world());
      const calls = [write(), remove()];
      const made = await Promise.all([1, 2, 3].map(() => plan(bot, calls, { run: "same" })));
      assert.equal(new Set(made.filter((id) => id !== null)).size, 1);
      const none = await bot.post("/gate/plans", { gate: "files", run: "r", calls: [] });
      assert.equal(none.status, 400, none.text);
    });

    it("asks anew about each call when the policy is another by then, or the time of the plan is over", async () => {
      const { ask, decide } = await planned([write(), remove()]);
      await decide({ approved: true });
      const former = (await ask(1)).id;
      writeFileSync(world().config.relay.policyFile, RULES.replace("Not by agents", fresh("Never")));
      await world().server.reload();
      const second = await ask(1);
      assert.deepEqual([second.state, second.id === former], ["waiting", false]);
      assert.equal((await ask(0)).status, "pending");
      writeFileSync(world().config.relay.policyFile, RULES);
      await world().server.reload();

      const late = await planned([write(), remove()]);
      await late.decide({ approved: true });
      const approved = await late.ask(1);
      assert.equal(approved.status, "approved");
      await world().advance(HOUR + MINUTE);
      const anew = await late.ask(1);
      assert.deepEqual([anew.status, anew.id === approved.id], ["pending", false]);
    });

    it("shows the targets of a call first, where people decide it, and starts it for gates that look at them again", async () => {
      const bot = await gateClient(world());
      const args = { path: fresh("file") };
      const ask = async (more: object = {}) => (await bot.ask("purge", args, { previews: true, ...more })).body;
      const shows = (targets: unknown[]) =>
        bot.post("/gate/plans", {
          gate: "files",
          run: fresh("run"),
          calls: [{ tool: toolOf("purge"), arguments: args, preview: { targets, digest: "v1" } }],
        });
      assert.equal((await bot.ask("drop", {}, { previews: true })).body.state, "denied");
      assert.deepEqual(await ask(), { state: "preview", way: WAY });
      assert.equal(await plan(bot, [["purge", args], write()]), null, "a call without its targets is in no plan");
      assert.equal((await shows(Array.from({ length: 501 }, () => "x"))).status, 400);

      const { body } = (await shows([{ name: "a", size: 5 }, { name: "b" }])) as { body: { plan: string } };
      const { text } = await operator.whole(body.plan);
      assert.match(text, /"columns":\["name","size"\],"rows":\[\["a","5"\],\["b",""\]\]/);
      assert.match(text, /"rows":\[\["v1"\]\]/);
      const { id } = await ask();
      await operator.decide(body.plan, { approved: true });
      const blind = (await bot.ask("purge", args)).body;
      assert.deepEqual([blind.state, blind.id], ["waiting", id]);
      const started = await ask({ run: "a" });
      assert.deepEqual([started.state, started.id, started.preview.way], ["started", id, WAY]);
      assert.match(started.preview.digest, /^sha256:[0-9a-f]{64}$/);

      assert.deepEqual(await bot.ended(id, { run: "a", outcome: "lost" }), { state: "unknown" });
      assert.equal((await ask({ run: "b" })).state, "preview");
      const again = (await shows(["a"])).body as { plan: string };
      assert.match((await operator.whole(again.plan)).text, /may have run already/);
      await operator.decide(again.plan, { approved: true });
      assert.equal((await ask({ run: "b" })).state, "started");
      assert.ok((await actionsOf(world(), id)).includes("gate_call.run_again"));
    });

    it("starts each call once of thousands at once, in order, on every server of the database", async () => {
      const { ctx } = world().server;
      const { bot, ask, decide } = await planned([write(), remove()]);
      const ids = [(await ask(0)).id as string, (await ask(1)).id as string];
      await decide({ approved: true });
      const { policyVersion = "" } = (await findGateCall(ctx.db, ids[0] ?? "")) ?? {};
      const nodes = [ctx, ...(on === "postgres" ? [(await world().addNode()).server.ctx] : [])];
      const requests = await Promise.all(ids.map((id) => readRequest(ctx, id)));
      const starts = Array.from({ length: 600 }, async (_, i) => {
        const request = requests[i % 2] ?? assert.fail();
        const node = nodes[Math.floor(i / 2) % nodes.length] ?? ctx;
        return startCall(node, request, { run: `run ${i}`, policyVersion });
      });
      const started = (await Promise.all(starts)).filter((call) => call !== null && call !== "behind");
      assert.deepEqual(
        started.map(({ requestId }) => requestId),
        [ids[0]],
      );
      await bot.ended(ids[0] ?? "", { run: started[0]?.run });
      assert.equal((await ask(1)).state, "started");
    });

    it("leaves a store in which the doctor finds nothing", async () => {
      const findings = await examineStore(world().server.ctx, { quick: false });
      assert.deepEqual(
        findings.filter(({ offenders }) => offenders.length > 0),
        [],
      );
    });
  });
}
