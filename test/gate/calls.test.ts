import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before, describe, it } from "node:test";
import { approvedArguments } from "../../src/gate/ask-call.ts";
import { startCall } from "../../src/gate/start-call.ts";
import { findGateCall } from "../../src/gate/store/gate-calls.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { advanceUntil, MINUTE, ROOMY, sharedWorld } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { actionsOf, gateClient, toolOf } from "../support/gate.ts";
import { OPERATOR } from "../support/identities.ts";
import { DATABASES } from "../support/world.ts";

const RULES = `version: 1
rules:
  - { id: reads, when: { fn: files.read_file }, decision: ALLOW }
  - { id: stamps, when: { fn: [ files.stamp, files.touch ] }, decision: ALLOW }
  - { id: no-drops, when: { fn: files.drop }, decision: DENY, reason: Not by agents }
`;

for (const on of DATABASES) {
  describe(`a call behind a gate, on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    let operator: Decider;
    before(async () => {
      writeFileSync(world().config.relay.policyFile, RULES);
      await world().server.reload();
      operator = await decider(world(), OPERATOR);
    });

    const agent = () => gateClient(world());
    const actions = (requestId: string) => actionsOf(world(), requestId);

    it("runs at once where a rule allows it, and the record holds asked, decided, started and ended", async () => {
      const bot = await agent();
      const { body } = await bot.ask("read_file", { path: "a.txt" });
      assert.deepEqual(
        [body.state, body.arguments, body.edited, body.held_seconds],
        ["started", { path: "a.txt" }, false, 60],
      );
      assert.equal(body.digest, body.consent_digest);
      assert.deepEqual(await bot.ended(body.id), { state: "ended" });
      assert.deepEqual(await actions(body.id), [
        "function_call.created",
        "function_call.approved",
        "gate_call.started",
        "gate_call.ended",
      ]);
    });

    it("says no with who and why where a rule denies it", async () => {
      const { body } = await (await agent()).ask("drop", { table: "orders" });
      assert.deepEqual(
        [body.state, body.approved, body.comment, body.decided_by],
        ["denied", false, "Not by agents", { kind: "policy", name: "policy: no-drops" }],
      );
    });

    it("waits for a person, and whoever could not wait comes back for the same call's outcome, once", async () => {
      const bot = await agent();
      const args = { path: "b.txt", content: "hello" };
      const first = await bot.ask("write_file", args);
      assert.equal(first.body.state, "waiting");
      assert.equal((await bot.ask("write_file", args)).body.id, first.body.id);
      assert.notEqual((await bot.ask("write_file", { ...args, content: "other" })).body.id, first.body.id);
      assert.notEqual((await (await agent()).ask("write_file", args)).body.id, first.body.id);
      const waiting = bot.ask("write_file", args, { wait_seconds: 60, run: "second" });
      await operator.decide(first.body.id, { approved: true });
      const { body } = await waiting;
      assert.deepEqual([body.state, body.id, body.decided_by.name], ["started", first.body.id, "operator"]);
      assert.deepEqual((await bot.ask("write_file", args, { run: "second" })).body, body, "a lost reply is told again");
      const another = await bot.ask("write_file", args, { run: "third" });
      assert.deepEqual([another.body.state, another.body.id === body.id], ["waiting", false]);
    });

    it("tells a rejection once, with its comment; then the same call asks anew", async () => {
      const bot = await agent();
      const { id } = (await bot.ask("write_file", { path: "c" })).body;
      await operator.decide(id, { approved: false, comment: "Use the other folder" });
      const { body } = await bot.ask("write_file", { path: "c" });
      assert.deepEqual([body.state, body.comment], ["denied", "Use the other folder"]);
      assert.equal((await bot.ask("write_file", { path: "c" })).body.state, "waiting");
    });

    it("runs edited arguments as edited, and refuses those that do not fit the tool's schema", async () => {
      const bot = await agent();
      const { id } = (await bot.ask("write_file", { path: "d", amount: 900 })).body;
      const misfit = await operator.decide(id, { approved: true, kwargs: { path: 5 } });
      assert.equal(misfit.status, 400, misfit.text);
      const edited = await operator.decide(id, { approved: true, kwargs: { path: "d", amount: 12 } });
      assert.equal(edited.status, 200, edited.text);
      const { body } = await bot.ask("write_file", { path: "d", amount: 900 });
      assert.deepEqual([body.state, body.arguments, body.edited], ["started", { path: "d", amount: 12 }, true]);
      assert.equal(body.digest, body.consent_digest);
    });

    it("keeps every digit of a number", async () => {
      const text = '{"path":"e","amount":123456789012345678901234567890}';
      const bot = await agent();
      const reply = await bot.post(
        "/gate/calls",
        `{"gate":"files","tool":${JSON.stringify(toolOf("read_file"))},"run":"r","arguments":${text}}`,
      );
      assert.ok(reply.text.includes("123456789012345678901234567890"), reply.text);
    });

    it("is unknown when its gate shows no life for a minute, and does not run again before a person says so", async () => {
      const bot = await agent();
      const stamped = await bot.ask("stamp", { id: 7 });
      assert.equal(stamped.body.state, "started");
      await world().advance(50_000);
      assert.deepEqual(await bot.holds(stamped.body.id), { running: true, held_seconds: 60 });
      await world().advance(50_000);
      assert.deepEqual(await bot.holds(stamped.body.id), { running: true, held_seconds: 60 });
      await advanceUntil(world(), 10_000, async () => (await actions(stamped.body.id)).includes("gate_call.unknown"));
      assert.deepEqual(await bot.holds(stamped.body.id), { running: false, held_seconds: 60 });

      const again = await bot.ask("stamp", { id: 7 }, { run: "later" });
      assert.equal(again.body.state, "waiting", "the rule allows it, and a person is asked all the same");
      assert.match((await operator.whole(again.body.id)).body.title, /may have run already/);
      assert.equal((await bot.ask("stamp", { id: 8 })).body.state, "started", "another call is not held up");
      await operator.decide(again.body.id, { approved: true });
      assert.equal((await bot.ask("stamp", { id: 7 }, { run: "later" })).body.state, "started");
      assert.ok((await actions(stamped.body.id)).includes("gate_call.run_again"));
      await bot.ended(again.body.id, { run: "later" });
      assert.equal((await bot.ask("stamp", { id: 7 }, { run: "next" })).body.state, "started");
    });

    it("may run again unknown where the tool was accepted saying that it is idempotent", async () => {
      const bot = await agent();
      const tool = { ...toolOf("touch"), annotations: { idempotentHint: true } };
      const { body } = await bot.ask("touch", { id: 1 }, { tool });
      assert.deepEqual(await bot.ended(body.id, { outcome: "lost" }), { state: "unknown" });
      assert.equal((await bot.ask("touch", { id: 1 }, { tool, run: "b" })).body.state, "started");
      assert.deepEqual(await bot.ended(body.id), { state: "ended" }, "what is known after all counts");
    });

    it("is refused where the tool is not what it was", async () => {
      const bot = await agent();
      const tool = { ...toolOf("sent"), description: "Sends" };
      assert.equal((await bot.ask("sent", {}, { tool })).body.state, "waiting");
      const changed = { ...tool, annotations: { readOnlyHint: true } };
      assert.deepEqual((await bot.ask("sent", {}, { tool: changed })).body, { state: "changed", tool: "files.sent" });
      const list = await bot.post("/gate/tools", { gate: "files", tools: [changed, toolOf("read_file")] });
      assert.deepEqual(list.body, { held_back: ["sent"] });
      assert.equal((await bot.ask("sent", {}, { tool })).body.state, "waiting");
    });

    it("does not run when the policy is another by the time, or the approval has grown old", async () => {
      const bot = await agent();
      const { id } = (await bot.ask("write_file", { path: "f" }, { timeout_seconds: 60 })).body;
      await operator.decide(id, { approved: true });
      writeFileSync(world().config.relay.policyFile, RULES.replace("Not by agents", "Never"));
      await world().server.reload();
      const { body } = await bot.ask("write_file", { path: "f" }, { timeout_seconds: 60 });
      assert.deepEqual([body.state, body.id === id], ["waiting", false]);
      await operator.decide(body.id, { approved: true });
      await world().advance(62 * MINUTE);
      const late = await bot.ask("write_file", { path: "f" });
      assert.deepEqual([late.body.state, late.body.id === body.id], ["waiting", false]);
    });

    it("is nobody else's to hold or end, and runs under no name that is none", async () => {
      const bot = await agent();
      const { id } = (await bot.ask("read_file", { path: "g" })).body;
      const other = await agent();
      for (const [by, run] of [
        [other, "run"],
        [bot, "another"],
      ] as const) {
        for (const what of ["hold", "end"]) {
          const reply = await by.post(`/gate/calls/${id}/${what}`, { run, ...(what === "end" && { outcome: "lost" }) });
          assert.equal(reply.status, 404, reply.text);
        }
      }
      for (const [change, says] of [
        [{ gate: "No.Name" }, /gate must be/],
        [{ tool: "files" }, /tool must be/],
        [{ arguments: [] }, /arguments must be/],
        [{ run: "" }, /run/],
      ] as const) {
        const reply = await bot.ask("read_file", {}, change);
        assert.equal(reply.status, 400);
        assert.match(reply.text, says);
      }
      const ended = await bot.post(`/gate/calls/${id}/end`, { run: "run", outcome: "result" });
      assert.match(ended.text, /result_digest must be/);
    });

    it("runs once of thousands that start it at once, on every server of the database", async () => {
      const { ctx } = world().server;
      const bot = await agent();
      const { id } = (await bot.ask("write_file", { path: "race" })).body;
      await operator.decide(id, { approved: true });
      const ask = await readRequest(ctx, id);
      assert.deepEqual(approvedArguments(ask), { args: { path: "race" }, isEdited: false });
      const { policyVersion = "" } = (await findGateCall(ctx.db, id)) ?? {};
      const nodes = [ctx, ...(on === "postgres" ? [(await world().addNode()).server.ctx] : [])];
      const starts = Array.from({ length: on === "sqlite" ? 10_000 : 2500 }, (_, i) =>
        startCall(nodes[i % nodes.length] ?? ctx, ask, { run: `run ${i}`, policyVersion }),
      );
      const won = (await Promise.all(starts)).filter((call) => call !== null);
      assert.equal(won.length, 1);
      assert.equal((await actions(id)).filter((action) => action === "gate_call.started").length, 1);
    });

    it("runs as often as it is approved when many ask for the same at once", async () => {
      const bot = await agent();
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          bot.ask("write_file", { path: "many" }, { run: `run ${i}`, wait_seconds: 0 }),
        ),
      );
      const ids = new Set(replies.map(({ body }) => body.id as string));
      for (const id of ids) await operator.decide(id, { approved: true });
      const told = await Promise.all(
        replies.map((_, i) => bot.ask("write_file", { path: "many" }, { run: `again ${i}` })),
      );
      const started = told.filter(({ body }) => body.state === "started");
      assert.ok(started.length <= ids.size);
      assert.equal(new Set(started.map(({ body }) => body.id)).size, started.length);
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
