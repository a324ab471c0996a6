import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { createKey } from "../../src/access/create-key.ts";
import { fresh } from "../support/contract.ts";
import { assertRelayError } from "../support/jobs.ts";
import {
  answer,
  codeOf,
  gist,
  invalid,
  invalidQuery,
  newAnswer,
  newAsk,
  noAsk,
  sharedRelay,
  type RelayScene,
} from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const scopeMissing = (scope: string) => ({
  code: "FORBIDDEN",
  message: `This key lacks the scope ${scope}`,
  details: { scope },
});
const unauthorized = { code: "UNAUTHORIZED", message: "A valid key is required." };
const selfAnswer = { code: "SELF_ANSWER", message: "The asker cannot answer its own Ask" };
const needsPerson = { code: "APPROVAL_NEEDS_PERSON", message: "Only a person may decide this Ask" };
const misfit = (...details: { path: string; message: string }[]) => ({
  code: "ANSWER_INVALID",
  message: "The answer does not fit the schema",
  details,
});
const taken = (details: object) => ({ code: "ANSWER_CONFLICT", message: "The Ask already has an answer", details });

const COLUMNS = {
  type: "array",
  items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
};
const serviceOf = (scene: RelayScene) => scene.program({ name: fresh("service"), scope: "answer" });

for (const on of DATABASES) {
  describe(`answers on ${on}`, () => {
    const scene = sharedRelay(on);

    it("takes the answer of a service, and says it to everybody in the same words", async () => {
      const { ana, ask, world, eventsOf, withPeople } = scene();
      const by = await serviceOf(scene());
      const one = await ask();
      await withPeople(one);
      const at = world.clock.now();
      const forged = { source: "policy", answered_by: "Dana", cacheable: true, truncated: true, created_at: 1 };
      const given = await answer(by, one, {
        answer_text: "EUR",
        answer_json: { a: 1 },
        artifacts: ["a/b.txt"],
        ...forged,
      });
      assert.equal(given.status, 202, given.text);
      const name = by.principal.slice("answer:".length);
      const { ask_id, job_id } = one;
      const { policy_trace } = given.body;
      assert.equal(policy_trace.decision, "ALLOW");
      assert.deepEqual(given.body, {
        type: "Answer",
        ask_id,
        askId: ask_id,
        job_id,
        jobId: job_id,
        step_id: "S-1",
        stepId: "S-1",
        status: "ANSWERED",
        answer_text: "EUR",
        answerText: "EUR",
        answer_json: { a: 1 },
        answerJson: { a: 1 },
        artifacts: ["a/b.txt"],
        cacheable: false,
        source: "service",
        answered_by: name,
        answeredBy: name,
        created_at: at,
        createdAt: at,
        policy_trace,
        policyTrace: policy_trace,
      });
      assert.deepEqual((await ana.get(`/asks/${ask_id}/answer`)).body, given.body);
      const { stages, status } = (await ana.get(`/asks/${ask_id}`)).body;
      assert.deepEqual([status, stages.at(-1).outcome], ["ANSWERED", `answered by ${name}`]);
      assert.deepEqual(await eventsOf(job_id), [
        "status RUNNING",
        "log ask.created",
        "status WAITING_ON_ANSWER",
        `answer ${ask_id}`,
        "log answer.recorded",
        "status RUNNING",
      ]);

      assert.deepEqual(
        (await answer(by, one, { answer_text: "EUR", answer_json: { a: 1 }, artifacts: ["a/b.txt"], ...forged })).body,
        given.body,
      );
      const details = { status: "ANSWERED", answered_by: name, at };
      assertRelayError(await answer(by, one, { answer_text: "USD" }), 409, taken(details));
      const other = await serviceOf(scene());
      assertRelayError(await answer(other, one, { answer_text: "EUR", answer_json: { a: 1 } }), 409, taken(details));
    });

    it("says why an answer that is none is none, with a code", async () => {
      const by = await serviceOf(scene());
      for (const [given, error, code] of [
        [{ status: "REJECTED", error: "not ours" }, "E_HUMAN_REJECT: not ours", "E_HUMAN_REJECT"],
        [{ status: "ERROR" }, "E_INTERNAL: ERROR", "E_INTERNAL"],
        [
          { status: "ERROR", error: "E_TOOL_ERROR: the database is away" },
          "E_TOOL_ERROR: the database is away",
          "E_TOOL_ERROR",
        ],
        [{ status: "TIMEOUT", answer_text: "busy" }, "E_TIMEOUT: busy", "E_TIMEOUT"],
        [{ status: "ERROR", error: "E_MINE: no" }, "E_INTERNAL: E_MINE: no", "E_INTERNAL"],
      ] as const) {
        const { body } = await answer(by, await scene().ask(), given);
        assert.deepEqual([body.status, body.error, body.error_code], [given.status, error, code]);
      }
    });

    it("refuses whoever may not answer", async () => {
      const { ana, agent, planner, admin, bo, ask, world, person, withPeople, program } = scene();
      const by = await serviceOf(scene());
      const one = await ask();
      await withPeople(one);
      assertRelayError(
        await world.call("POST", "/answers", { body: newAnswer(one, { answer_text: "x" }) }),
        401,
        unauthorized,
      );
      const unknown = { authorization: "Bearer prl_nobody" };
      assertRelayError(
        await world.call("POST", "/answers", { headers: unknown, body: newAnswer(one) }),
        401,
        unauthorized,
      );
      for (const who of [ana, bo, agent, planner, admin]) {
        assertRelayError(await answer(who, one, { answer_text: "x" }), 403, scopeMissing("answer"));
      }
      assertRelayError(await answer(by, { ...one, ask_id: "none" }, { answer_text: "x" }), 404, noAsk);
      const mismatch = { code: "ANSWER_MISMATCH", message: "job_id or step_id does not belong to this Ask" };
      assertRelayError(await answer(by, { ...one, job_id: "J-other" }, { answer_text: "x" }), 409, mismatch);
      assertRelayError(await answer(by, { ...one, step_id: "S-other" }, { answer_text: "x" }), 409, mismatch);
      // A person who was not asked gets 404.
      const stranger = await person(fresh("Eve"), { seesAll: false });
      assertRelayError(await answer(stranger.by, one, { answer_text: "x" }), 404, noAsk);

      for (const ask_type of ["APPROVAL", "POLICY_DECISION"]) {
        const decision = await ask({ ask_type, meta: { action: "deploy" } });
        await withPeople(decision);
        const yes = { answer_json: { approved: true, decision: "ALLOW" } };
        assertRelayError(await answer(by, decision, yes), 403, needsPerson);
      }

      const dana = await person();
      const hers = await program({ name: fresh("hers"), scope: "executor", person: dana.id });
      const own = await ask({}, hers);
      await withPeople(own);
      assertRelayError(await answer(dana.by, own, { answer_text: "x" }), 403, selfAnswer);
      const boss = await program({ name: fresh("boss"), scope: "admin", person: dana.id });
      assertRelayError(await answer(boss, own, { answer_text: "x" }), 403, selfAnswer);
      const { key } = await createKey(world.server.ctx, { name: fresh("two"), scope: "agent" });
      const asAgent = await program({ name: key.name, scope: "agent" });
      assert.equal((await answer(by, await ask({}, asAgent), { answer_text: "x" })).status, 202);
      assert.equal((await answer(boss, one, { answer_text: "by the boss" })).body.answered_by, dana.name);
    });

    it("says which field of an answer is wrong", async () => {
      const by = await serviceOf(scene());
      const one = await scene().ask();
      for (const [more, details] of [
        [{ status: undefined }, { field: "status", constraint: "required" }],
        [
          { status: "PENDING" },
          { field: "status", constraint: "enum", allowed: ["ANSWERED", "REJECTED", "TIMEOUT", "ERROR"] },
        ],
        [{ answer_text: 1 }, { field: "answer_text", constraint: "type" }],
        [{ answer_text: "a\0" }, { field: "answer_text", constraint: "characters" }],
        [{ artifacts: "a" }, { field: "artifacts", constraint: "type" }],
        [{ type: "Ask" }, { field: "type", constraint: "enum", allowed: ["Answer"] }],
        [{ ask_id: "a b" }, { field: "ask_id", constraint: "format", pattern: "^[A-Za-z0-9._:-]{1,128}$" }],
      ] as const) {
        assertRelayError(await answer(by, one, { answer_text: "x", ...more }), 400, invalid(details));
      }
    });

    it("refuses what does not fit, and the ask stays pending", async () => {
      const { ana, ask } = scene();
      const by = await serviceOf(scene());
      const overrides = { prompt_overrides: { output_schema: COLUMNS } };
      const one = await ask({ ask_type: "RESOURCE_FETCH", meta: overrides });
      const bad = await answer(by, one, { answer_json: [{ name: 1 }] });
      assertRelayError(bad, 422, misfit({ path: "/0/name", message: "must be string" }));
      assert.deepEqual(codeOf(await answer(by, one, { answer_text: "words" })), [422, "ANSWER_INVALID"]);
      const free = await ask();
      for (const [more, path] of [
        [{}, ""],
        [{ answer_text: "x".repeat(8001) }, "/answer_text"],
        [{ answer_json: "x".repeat(65_536) }, "/answer_json"],
        [{ answer_text: "x", ask_back: "x".repeat(1001) }, "/ask_back"],
        [{ answer_text: "x", error: "x".repeat(8001) }, "/error"],
        [{ answer_text: "x", artifacts: ["../etc/passwd"] }, "/artifacts/0"],
        [{ answer_text: "x", artifacts: Array.from({ length: 65 }, (_, i) => `f${i}`) }, "/artifacts"],
      ] as const) {
        const reply = await answer(by, free, more);
        assert.deepEqual([...codeOf(reply), reply.body.error.details[0].path], [422, "ANSWER_INVALID", path]);
      }
      const choice = await ask({ ask_type: "CHOICE", meta: { options: ["Red", { id: "b", label: "Blue" }] } });
      assertRelayError(
        await answer(by, choice, { answer_text: "Green" }),
        422,
        misfit({ path: "/choice", message: "must be one of Red, b" }),
      );
      for (const { ask_id } of [one, free, choice])
        assert.equal((await ana.get(`/asks/${ask_id}`)).body.status, "PENDING");
      assert.deepEqual((await answer(by, choice, { answer_json: { choice: "b" } })).body.answer_json, {
        choice: "b",
        index: 1,
      });
      assert.deepEqual((await answer(by, one, { answer_json: [{ name: "id" }] })).body.answer_json, [{ name: "id" }]);
    });

    it("lets whoever answers ask back instead", async () => {
      const { ask, withPeople, person } = scene();
      const by = await serviceOf(scene());
      const one = await ask({ meta: { prompt_overrides: { output_schema: COLUMNS } } });
      const { body } = await answer(by, one, { ask_back: "Which table?" });
      assert.deepEqual([body.status, body.ask_back, body.askBack], ["ANSWERED", "Which table?", "Which table?"]);
      const other = await ask();
      await withPeople(other);
      const dana = await person();
      const asked = (await answer(dana.by, other, { ask_back: "Which shop?", artifacts: ["map.png"] })).body;
      assert.deepEqual(
        [asked.ask_back, asked.answer_text, asked.artifacts],
        ["Which shop?", "Question back: Which shop?", ["map.png"]],
      );
    });

    it("takes a person's decision by a key, with the digest of what was shown", async () => {
      const { ask, withPeople, person, world } = scene();
      const dana = await person();
      const one = await ask({
        ask_type: "APPROVAL",
        prompt: "Deploy 1.4.2 to prod?",
        meta: { action: "deploy", resource: "shop-api", env: "prod", args: { version: "1.4.2" } },
      });
      await withPeople(one);
      assert.deepEqual(codeOf(await answer(dana.by, one, { answer_json: { approved: "yes" } })), [
        422,
        "ANSWER_INVALID",
      ]);
      const yes = { answer_json: { approved: true }, answer_text: "Go." };
      const { status, body } = await answer(dana.by, one, yes);
      assert.equal(status, 202);
      assert.deepEqual(gist(body), {
        status: "ANSWERED",
        source: "person",
        answer_text: "Go.",
        answer_json: { approved: true, by: "person" },
      });
      assert.equal(body.consent_digest, "sha256:8fd3d987fdcfe9ebd974b05ddf565c29f15fe6355607da69717be7cc6a6d9752");
      assert.equal(body.answered_by, dana.name);
      assert.deepEqual((await answer(dana.by, one, yes)).body, body);
      const eve = await person();
      const details = { status: "ANSWERED", answered_by: dana.name, at: body.created_at };
      assertRelayError(await answer(eve.by, one, yes), 409, taken(details));
      assertRelayError(await answer(dana.by, one, { answer_json: { approved: false } }), 409, taken(details));
      const records = await world.server.ctx.db.all<{ action: string; actor_id: string }>(
        sql`SELECT action FROM audit WHERE ask_id = ${one.ask_id} AND action = 'relay.answered'`,
      );
      assert.equal(records.length, 1);
    });

    it("says each way in which a person may decide", async () => {
      const { ask, withPeople, person } = scene();
      const dana = await person();
      const approval = { ask_type: "APPROVAL", meta: { action: "deploy" } };
      const policy = { ask_type: "POLICY_DECISION", meta: { action: "write" } };
      for (const [input, given, expected] of [
        [
          approval,
          { status: "REJECTED", error: "not today" },
          { status: "REJECTED", error: "E_HUMAN_REJECT: not today" },
        ],
        [
          approval,
          { answer_json: { approved: false } },
          { status: "REJECTED", error: "E_HUMAN_REJECT: a person declined", answer_json: { approved: false } },
        ],
        [
          policy,
          { answer_json: { decision: "ALLOW" } },
          { status: "ANSWERED", answer_json: { decision: "ALLOW", rules: [], by: "person" } },
        ],
        [
          policy,
          { answer_json: { decision: "DENY" }, answer_text: "no" },
          { status: "REJECTED", error: "E_HUMAN_REJECT: no", answer_json: { decision: "DENY" } },
        ],
        [{}, { answer_text: "EUR" }, { status: "ANSWERED", answer_text: "EUR" }],
        [
          {},
          { status: "REJECTED", error: "ask the shop" },
          { status: "REJECTED", error: "E_HUMAN_REJECT: ask the shop" },
        ],
        [
          { ask_type: "CHOICE", prompt: "Which?\n- Red\n- Blue" },
          { answer_text: "blue" },
          { status: "ANSWERED", answer_text: "Blue", answer_json: { choice: "Blue", index: 1 } },
        ],
        [
          { ask_type: "RESOURCE_FETCH", meta: { prompt_overrides: { output_schema: COLUMNS } } },
          { answer_json: [{ name: "id" }] },
          { status: "ANSWERED", answer_json: [{ name: "id" }] },
        ],
      ] as const) {
        const one = await ask(input);
        await withPeople(one);
        const { status, body } = await answer(dana.by, one, given);
        assert.equal(status, 202, JSON.stringify(body));
        assert.deepEqual(gist(body), { source: "person", ...expected });
      }
    });

    it("takes one of 200 answers that race", async () => {
      const { ask, eventsOf, person, withPeople, world } = scene();
      const services = await Promise.all(Array.from({ length: 8 }, () => serviceOf(scene())));
      const dana = await person();
      const one = await ask();
      await withPeople(one);
      const racers = [...services, dana.by];
      const replies = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          answer(racers[i % racers.length] ?? dana.by, one, { answer_text: `answer ${i}` }),
        ),
      );
      const [won, ...more] = replies.filter(({ status }) => status === 202);
      assert.equal(more.length, 0);
      const { answered_by, created_at: at, status } = won?.body ?? {};
      for (const reply of replies) {
        if (reply !== won) assertRelayError(reply, 409, taken({ status, answered_by, at }));
      }
      assert.equal((await eventsOf(one.job_id)).filter((event) => event.startsWith("answer")).length, 1);
      await world.advance(5000);
    });

    it("lists what a person or a service may answer, the one that ends first first", async () => {
      const { program, ask, withPeople, person } = scene();
      const dana = await person(fresh("Solo"), { seesAll: false });
      const asker = await program({ name: fresh("asker"), scope: "executor" });
      const asks = [];
      for (const [timeout_s, ask_type] of [
        [300, "CLARIFICATION"],
        [100, "APPROVAL"],
        [200, "CHOICE"],
      ] as const) {
        const one = await ask({ ask_type, constraints: { timeout_s }, meta: { to: dana.name, action: "x" } }, asker);
        await withPeople(one);
        asks.push(one.ask_id);
      }
      const listed = async (path: string, by = dana.by) =>
        (await by.get(path)).body.asks.map(({ ask_id }: { ask_id: string }) => ask_id);
      assert.deepEqual(await listed("/asks?status=PENDING"), [asks[1], asks[2], asks[0]]);
      assert.deepEqual(await listed("/asks?ask_type=CHOICE"), [asks[2]]);
      const page = (await dana.by.get("/asks?limit=2")).body;
      assert.deepEqual(await listed(`/asks?limit=2&cursor=${page.next_cursor}`), [asks[0]]);
      const service = await serviceOf(scene());
      const all = await listed("/asks?limit=100", service);
      assert.ok(all.includes(asks[0]) && !all.includes(asks[1]));
      assertRelayError(await asker.get("/asks"), 403, scopeMissing("answer"));
      const noStatus = invalidQuery({ field: "status", constraint: "enum", allowed: ["PENDING"] });
      assertRelayError(await service.get("/asks?status=ANSWERED"), 400, noStatus);
      assert.deepEqual(codeOf(await service.get("/asks?ask_type=GUESS")), [400, "VALIDATION_ERROR"]);
      const noCursor = invalidQuery({ field: "cursor", constraint: "format" });
      assertRelayError(await service.get("/asks?cursor=bad"), 400, noCursor);
    });
  });

  describe(`the relay switched off on ${on}`, () => {
    const scene = sharedRelay(on, { env: { PARLEY_PHASE2_ASK_ANSWER: "0" } });
    it("has no route that answers, whoever asks", async () => {
      const off = { code: "FEATURE_DISABLED", message: "phase2_ask_answer is off" };
      const { ana } = scene();
      const by = await serviceOf(scene());
      assertRelayError(await ana.post("/asks", newAsk()), 404, off);
      assertRelayError(await ana.get("/asks/a"), 404, off);
      assertRelayError(await ana.get("/asks/a/answer"), 404, off);
      assertRelayError(await ana.call("DELETE", "/asks/a"), 404, off);
      assertRelayError(await by.get("/asks"), 404, off);
      assertRelayError(await by.post("/answers", {}), 404, off);
    });
  });
}
