import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  accepted,
  assertA2hError,
  callBody,
  contactBody,
  messageBody,
  openCall,
  openScene,
  sharedScene,
  type KeyHolder,
  type Scene,
} from "../../support/a2h.ts";
import { advanceUntil } from "../../support/contract.ts";
import { ONE_DATABASE } from "../../support/world.ts";

const iso = (scene: Scene) => new Date(scene.world.clock.now()).toISOString();

async function ask(
  scene: Scene,
  body: { call_id: string },
  kind: "function_calls" | "human_contacts" = "function_calls",
) {
  accepted(await scene.agent.post(`/${kind}`, body));
  const path = `/agent/${kind}/${body.call_id}/respond`;
  return {
    answer: (by: KeyHolder, replyBody: Record<string, unknown>) => by.post(path, replyBody),
    status: async () => accepted(await scene.agent.get(`/${kind}/${body.call_id}`)).status,
  };
}

for (const on of ONE_DATABASE) {
  describe(`answers of A2H on ${on}`, () => {
    const shared = sharedScene(on);

    it("count once, and may be said again", async () => {
      const scene = shared();
      const ana = await scene.human("Ana Ruiz");
      const asked = await ask(scene, callBody({ channel: { human: { id: ana.id } } }));
      const answer = { approved: true, comment: "ok", user_info: null, requested_at: "2020-01-01", expired: true };
      const first = await asked.answer(ana.answer, answer);
      assert.equal(first.headers.get("idempotency-replayed"), null);
      await scene.world.advance(1000);
      const again = await asked.answer(ana.answer, answer);
      assert.deepEqual(again.body, first.body);
      assert.equal(again.headers.get("idempotency-replayed"), "true");
      assert.deepEqual(await asked.status(), first.body.status);
      assert.equal(first.body.status.expired, undefined);
    });

    it("have words even where the person left none", async () => {
      const scene = shared();
      const ana = await scene.human("Ana Ruiz");
      const channel = { human: { id: ana.id } };
      const reject_options = [{ name: "a", prompt_fill: "Filled" }, { name: "b", title: "Titled" }, { name: "c" }];
      const cases: [said: Record<string, unknown>, comment: string][] = [
        [{ approved: false }, "Rejected without a comment"],
        [{ approved: false, comment: "  " }, "Rejected without a comment"],
        [{ approved: false, reject_option_name: "a" }, "Filled"],
        [{ approved: false, reject_option_name: "b" }, "Titled"],
        [{ approved: false, reject_option_name: "c" }, "c"],
        [{ approved: false, reject_option_name: "a", comment: "My own" }, "My own"],
      ];
      for (const [replyBody, comment] of cases) {
        const asked = await ask(scene, callBody({ channel, reject_options }));
        const { status } = accepted(await asked.answer(ana.answer, replyBody));
        assert.deepEqual([status.approved, status.comment], [false, comment]);
      }
      const response_options = [
        { name: "tue", title: "Tuesday" },
        { name: "wed", prompt_fill: "On Wednesday" },
      ];
      const replies: [said: Record<string, unknown>, response: string, option?: string][] = [
        [{ response: "Friday" }, "Friday"],
        [{ response: "Tuesday" }, "Tuesday", "tue"],
        [{ response: "", response_option_name: "wed" }, "On Wednesday", "wed"],
        [{ response: "Late", response_option_name: "wed" }, "Late", "wed"],
      ];
      for (const [replyBody, response, option] of replies) {
        const asked = await ask(scene, contactBody({ channel, response_options }), "human_contacts");
        const { status } = accepted(await asked.answer(ana.answer, replyBody));
        assert.deepEqual([status.response, status.response_option_name], [response, option]);
      }
      const silent = await ask(scene, contactBody({ channel }), "human_contacts");
      assert.equal((await silent.answer(ana.answer, { response: null })).status, 422);
      assert.equal((await silent.answer(ana.answer, { response: 7 })).status, 422);
    });

    it("that were refused are told to the agent, without words of strangers", async () => {
      const scene = shared();
      const [ana, bo] = [await scene.human("Ana Ruiz"), await scene.human("Bo Lind")];
      const asked = await ask(
        scene,
        contactBody({ channel: { human: { id: ana.id } }, response_options: [{ name: "yes" }] }),
        "human_contacts",
      );
      assert.equal((await asked.answer(ana.answer, { response: "x", response_option_name: "no" })).status, 422);
      const first = (await asked.status()).failed_validation_details;
      const head = { at: iso(scene), via: "api", responder: { name: "Ana Ruiz" } };
      assert.deepEqual(first, { ...head, reason: "unknown_option", input: "x", attempts: 1 });
      const both = await openCall(scene, { reject_options: [{ name: "later" }] });
      assert.equal(
        (await both.ana.answer.post(both.respond, { approved: true, reject_option_name: "later" })).status,
        422,
      );
      const seen = accepted(await scene.agent.get(`/function_calls/${both.body.call_id}`)).status;
      assert.deepEqual(
        [seen.approved, seen.failed_validation_details],
        [undefined, { ...head, reason: "unknown_option", input: "later", attempts: 1 }],
      );
      // Cy sees the request only because everybody's requests are shown to Cy.
      const cy = await scene.human("Cy", { inboxScope: "all" });
      assert.equal((await asked.answer(cy.answer, { response: "mine!" })).status, 403);
      const second = (await asked.status()).failed_validation_details;
      assert.deepEqual(second, { ...head, responder: { name: "Cy" }, reason: "responder_not_allowed", attempts: 2 });
      assert.equal((await asked.answer(bo.answer, { response: "mine!" })).status, 404);
      accepted(await asked.answer(ana.answer, { response: "yes" }));
      assert.equal((await asked.status()).failed_validation_details, undefined);
    });

    it("are everybody's who sees all, where nobody is named, and of those who own the agent never by key", async () => {
      const scene = shared();
      const [ana, cy] = [await scene.human("Ana Ruiz"), await scene.human("Cy", { inboxScope: "all" })];
      const asked = await ask(scene, callBody());
      assert.equal((await asked.answer(ana.answer, { approved: true })).status, 404);
      assert.equal(accepted(await asked.answer(cy.answer, { approved: true })).status.user_info.name, "Cy");

      const bot = await scene.holder({ name: "cys-bot", scope: "agent", person: cy.person });
      const own = callBody();
      accepted(await bot.post("/function_calls", own));
      assertA2hError(await cy.answer.post(`/agent/function_calls/${own.call_id}/respond`, { approved: true }), 403, {
        code: "self_response_forbidden",
        message: "An agent may not answer its own request.",
      });
    });

    it("of all who are asked are needed, and one rejection is enough", async () => {
      const scene = shared();
      const people = [await scene.human("Ana Ruiz"), await scene.human("Bo Lind"), await scene.human("Cy")];
      const [ana, bo, cy] = people as [(typeof people)[0], (typeof people)[0], (typeof people)[0]];
      const all_of = [{ human: { id: ana.id } }, { any_of: [{ human: { id: bo.id } }, { human: { id: cy.id } }] }];
      const asked = await ask(scene, callBody({ channel: { all_of } }));
      const half = accepted(await asked.answer(bo.answer, { approved: true, comment: "ok for Q4" })).status;
      const approval = {
        user_info: { id: bo.id, name: "Bo Lind", via: "api" },
        approved: true,
        comment: "ok for Q4",
        at: iso(scene),
        consent_digest: half.consent_digest,
      };
      assert.deepEqual([half.approved, half.user_info, half.approvals], [undefined, undefined, [approval]]);
      assert.equal(accepted(await asked.answer(cy.answer, { approved: true })).status.approved, undefined);
      const whole = accepted(await asked.answer(ana.answer, { approved: true, comment: "fine" })).status;
      assert.deepEqual(
        [whole.approved, whole.comment, whole.user_info.name, whole.approvals.length],
        [true, "Bo Lind: ok for Q4; Ana Ruiz: fine", "Ana Ruiz", 3],
      );

      const of = people.map(({ id }) => ({ human: { id } }));
      const two = await ask(scene, callBody({ channel: { quorum: { min: 2, of } } }));
      assert.equal(accepted(await two.answer(ana.answer, { approved: true })).status.approved, undefined);
      assert.equal(accepted(await two.answer(cy.answer, { approved: false, comment: "No" })).status.approved, false);

      const timed = { any_of: [{ human: { id: ana.id } }, { timeout: 60, channel: { human: { id: bo.id } } }] };
      const later = await ask(scene, callBody({ channel: timed }));
      assert.equal((await later.answer(bo.answer, { approved: true })).status, 403);
      await scene.world.advance(60_000);
      assert.equal(accepted(await later.answer(bo.answer, { approved: true })).status.approved, true);
    });

    it("may edit the arguments where the agent allows it, to what fits its schema", async () => {
      const scene = shared();
      const ana = await scene.human("Ana Ruiz");
      const spec = {
        kwargs: { amount: 49.9 },
        channel: { human: { id: ana.id } },
        editable: true,
        kwargs_schema: { properties: { amount: { type: "number", maximum: 50 } }, additionalProperties: false },
      };
      const edited = await ask(scene, callBody(spec));
      const before = (await edited.status()).consent_digest;
      assert.equal((await edited.answer(ana.answer, { approved: true, kwargs: { amount: 51 } })).status, 422);
      const { errors, reason } = (await edited.status()).failed_validation_details;
      assert.deepEqual([reason, errors[0].path], ["schema", "/amount"]);
      const reply = accepted(await edited.answer(ana.answer, { approved: true, kwargs: { amount: 40 } }));
      assert.deepEqual(
        [reply.spec.kwargs, reply.status.kwargs, reply.status.edited],
        [{ amount: 49.9 }, { amount: 40 }, true],
      );
      assert.notEqual(reply.status.consent_digest, before);

      const asIs = await ask(scene, callBody(spec));
      const plain = accepted(await asIs.answer(ana.answer, { approved: true }));
      assert.deepEqual(
        [plain.status.kwargs, plain.status.edited, plain.status.consent_digest],
        [{ amount: 49.9 }, false, before],
      );
    });

    it("fit the schema of a message, or are any words", async () => {
      const scene = shared();
      const created = await scene.agent.post("/messages", messageBody({ channel_id: "1" }));
      const { uid } = created.body.metadata;
      assert.equal(created.status, 201);
      assert.equal(created.headers.get("location"), `/humanlayer/v1/messages/${uid}`);
      assert.match(uid, /^m_\w{22}$/);
      const body = { ...messageBody({ channel_id: "1" }), metadata: { uid }, status: {} };
      assert.deepEqual(created.body, body);
      assert.deepEqual(accepted(await scene.agent.get(`/messages/${uid}`)), body);
      const misspelt = { ...messageBody(), metatdata: { uid: "mine" } };
      assert.equal(accepted(await scene.agent.post("/messages", misspelt)).metadata.uid, "mine");
      const replayed = await scene.agent.post("/messages", {
        ...misspelt,
        metatdata: undefined,
        metadata: { uid: "mine" },
      });
      assert.deepEqual([replayed.status, replayed.headers.get("idempotency-replayed")], [200, "true"]);
      const gone = accepted(await scene.agent.post("/messages/mine/cancel"));
      assert.deepEqual(gone.status, { cancelled: true });
    });
  });

  describe(`escalations by mail on ${on}`, () => {
    it("go to the mail of the request, of the escalation, or nowhere", async () => {
      await using scene = await openScene(on);
      const call = callBody({
        channel: { email: { address: "ana@example.com", additional_recipients: [{ address: "bo@example.com" }] } },
      });
      accepted(await scene.agent.post("/function_calls", call));
      const bare = callBody();
      accepted(await scene.agent.post("/function_calls", bare));
      const path = (id: string) => `/agent/function_calls/${id}/escalate_email`;
      const refused = await scene.agent.post(path(bare.call_id), { escalation_msg: "Please" });
      assert.deepEqual([refused.status, refused.body.detail[0].loc], [422, ["body", "channel", "email"]]);
      const escalation = { escalation_msg: "Please", additional_recipients: [{ address: "cy@example.com" }] };
      const status = accepted(await scene.agent.post(path(call.call_id), escalation)).status;
      assert.deepEqual([status.approved, status.deliveries.length], [undefined, 5]);
      const sent = () => scene.email.sent.filter(({ opening }) => opening === "Please");
      await advanceUntil(scene.world, 1000, () => sent().length >= 3);
      const to = sent()
        .map(({ target }) => (target as { to: string }).to)
        .sort();
      assert.deepEqual(to, ["ana@example.com", "bo@example.com", "cy@example.com"]);
    });
  });
}
