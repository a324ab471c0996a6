import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { callBody, messageBody } from "../support/a2h.ts";
import { fresh } from "../support/contract.ts";
import { tool } from "../support/mcp.ts";
import { parley } from "../support/program.ts";
import { sharedRelay } from "../support/relay.ts";

const BASE = "/a2h/v1alpha1";

describe("looking at what was asked, and ending it, from a terminal", () => {
  const scene = sharedRelay("sqlite");
  const as = (key: string, ...args: string[]) => parley(args, { PARLEY_URL: scene().world.url, PARLEY_KEY: key });

  it("shows an approval with its arguments, digit for digit, and what was decided", async () => {
    const { agent, person, world } = scene();
    const dana = await person();
    const body = callBody({ kwargs: { order: "A-1007\u202e", cents: 12345 } });
    const text = JSON.stringify(body).replace("12345", "12345678901234567890");
    const asked = await fetch(`${world.url}${BASE}/function_calls`, {
      method: "POST",
      headers: { ...agent.headers, "content-type": "application/json" },
      body: text,
    });
    const { status } = (await asked.json()) as { status: { ask_id: string } };
    const head = 'issue_refund\n  order: "A-1007\\u202e"\n  cents: 12345678901234567890\n';
    const open = await as(agent.key, "check", body.call_id);
    assert.equal(open.code, 0, open.err);
    assert.ok(open.out.startsWith(`${head}open until `), open.out);

    assert.equal((await dana.decide(status.ask_id, { approved: false, comment: "Too much." })).status, 200);
    const over = await as(agent.key, "check", body.call_id);
    assert.ok(over.out.startsWith(`${head}  - Too much.\nrejected by ${dana.name}, `), over.out);
    const json = await as(agent.key, "check", body.call_id, "--json");
    assert.match(json.out, /"cents":12345678901234567890[,}]/);
    const late = await as(agent.key, "cancel", body.call_id);
    assert.deepEqual([late.code, late.out], [1, ""]);
  });

  it("cancels approvals and messages", async () => {
    const { agent } = scene();
    const call = callBody();
    assert.equal((await agent.post(`${BASE}/function_calls`, call)).status, 200);
    const cancelled = await as(agent.key, "cancel", call.call_id);
    assert.equal(cancelled.code, 0, cancelled.err);
    assert.match(cancelled.out, /\ncancelled\n$/);

    const uid = fresh("note");
    const message = messageBody({ message: "Ship build 412?" }, { metadata: { uid } });
    assert.equal((await agent.post(`${BASE}/messages`, message)).status, 201);
    assert.equal((await as(agent.key, "check", uid)).out, "Ship build 412?\nopen\n");
    assert.equal((await as(agent.key, "cancel", uid)).out, "Ship build 412?\ncancelled\n");
  });

  it("shows what an executor asked and how it was answered, and withdraws it", async () => {
    const { ana, ask, person, withPeople } = scene();
    const dana = await person();
    const one = await ask({ prompt: "Which currency?" });
    assert.match((await as(ana.key, "check", one.ask_id)).out, /^Which currency\?\nopen until \S+ \d\d:\d\d \S+\n$/);
    await dana.decide(await withPeople(one), { text: "Euros" });
    const answered = await as(ana.key, "check", one.ask_id);
    assert.match(answered.out, /^Which currency\?\n {2}- Euros\n(?: {2}- .*\n)?answered by .+\n$/);
    const { answer } = JSON.parse((await as(ana.key, "check", one.ask_id, "--json")).out) as {
      answer: { answer_text: string };
    };
    assert.equal(answer.answer_text, "Euros");

    const other = await ask();
    const withdrawn = await as(ana.key, "cancel", other.ask_id);
    assert.equal(withdrawn.code, 0, withdrawn.err);
    assert.doesNotMatch(withdrawn.out, /open until/);
    assert.equal((await as(ana.key, "check", other.ask_id)).out, withdrawn.out);
  });

  it("shows what an agent asked people by tools of MCP, which is not told to the agent by that, and cancels it", async () => {
    const { agent, person, world } = scene();
    const dana = await person();
    const sending = { headers: agent.headers };
    const [wait, reason] = [{ max_wait_seconds: 0 }, "Build 412."];
    const input = { fn: "deploy", kwargs: { env: "prod", cents: 12 }, reason, ...wait };
    const { call_id: id } = (await tool(world, "request_approval", input, sending)).structuredContent;
    const open = await as(agent.key, "check", id);
    assert.match(open.out, /^deploy\n {2}cents: 12\n {2}env: "prod"\nopen until \S+ \d\d:\d\d \S+\n$/);
    await dana.decides({ approved: true, comment: "Only this once." });
    const over = await as(agent.key, "check", id);
    assert.match(over.out, new RegExp(`\n  - Only this once\\.\napproved by ${dana.name}, `));
    assert.equal((await as(agent.key, "cancel", id)).code, 1);
    const told = (await tool(world, "request_approval", input, sending)).structuredContent;
    assert.deepEqual(
      [told.call_id, told.approved],
      [id, true],
      "the agent was not told yet, so it is good for its call",
    );

    const question = { message: "Ship on Monday?", options: [{ name: "yes", title: "Ship it" }], ...wait };
    const contact = (await tool(world, "contact_human", question, sending)).structuredContent.call_id;
    const cancelled = await as(agent.key, "cancel", contact);
    assert.deepEqual([cancelled.code, cancelled.out], [0, "Ship on Monday?\ncancelled\n"]);
    assert.deepEqual(await dana.inbox(), []);
    const again = (await tool(world, "contact_human", { ...question, message: "Ship?" }, sending)).structuredContent;
    await dana.decides({ option: "yes" });
    const answered = await as(agent.key, "check", again.call_id);
    assert.match(answered.out, new RegExp(`^Ship\\?\n  - Ship it\nanswered by ${dana.name}, `));
    assert.equal(JSON.parse((await as(agent.key, "check", again.call_id, "--json")).out).status, "answered");

    const other = await scene().program({ name: fresh("other"), scope: "agent" });
    for (const command of ["check", "cancel"]) assert.equal((await as(other.key, command, id)).code, 1);
  });

  it("says that nothing is there, also of what somebody else asked, and where tasks are", async () => {
    const { agent, bo, ask } = scene();
    const { ask_id: id } = await ask();
    for (const key of [agent.key, bo.key]) {
      const { code, err } = await as(key, "check", id);
      assert.deepEqual(
        [code, err],
        [
          1,
          `parley: you have asked nothing under the id ${id}; a task of a coding agent is shown by: parley task show ID\n`,
        ],
      );
    }
  });
});
