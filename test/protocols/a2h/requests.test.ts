import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import {
  accepted,
  callBody,
  contactBody,
  freshId,
  messageBody,
  openScene,
  sharedScene,
  type Scene,
} from "../../support/a2h.ts";
import { until } from "../../support/addressed.ts";
import { advanceUntil } from "../../support/contract.ts";
import { DATABASES, type Reply } from "../../support/world.ts";

const iso = (scene: Scene, afterMs = 0) => new Date(scene.world.clock.now() + afterMs).toISOString();

for (const on of DATABASES) {
  describe(`requests of A2H on ${on}`, () => {
    const shared = sharedScene(on, { env: { PARLEY_A2H_RECIPIENTS: "any" } });

    it("are claimed by one run, once they are decided, and never by another", async () => {
      const scene = shared();
      const ana = await scene.human(`Ana ${freshId()}`);
      const body = callBody({ channel: { human: { id: ana.id } } });
      const { ask_id } = accepted(await scene.agent.post("/function_calls", body)).status;
      const path = `/agent/function_calls/${body.call_id}`;
      const claim = (run: unknown, by = scene.agent) => by.post(`${path}/claim`, { run });
      const early = await claim("first");
      assert.deepEqual([early.status, early.body.error.code], [409, "not_decided"]);
      accepted(await ana.answer.post(`${path}/respond`, { approved: true }));

      const runs = Array.from({ length: 8 }, (_, i) => `run ${i}`);
      const claims = await Promise.all(runs.map((run) => claim(run)));
      assert.deepEqual(claims.map(({ status }) => status).sort(), [200, ...Array<number>(7).fill(409)]);
      const winner = runs[claims.findIndex(({ status }) => status === 200)];
      const { status: again, body: same } = await claim(winner);
      assert.deepEqual([again, same.status.approved, same.claim], [200, true, undefined]);
      const late = await claim("late");
      assert.deepEqual([late.body.error.code, late.body.error.claimed_at], ["already_claimed", iso(scene)]);
      for (const run of ["", undefined, 7, "x".repeat(65)]) assert.equal((await claim(run)).status, 422);
      const entries = (await scene.admin.get(`/audit?ask_id=${ask_id}&action=function_call.claimed`)).body.items;
      assert.deepEqual(
        entries.map(({ data }: { data: { run: string } }) => data.run),
        [winner],
      );
    });

    it("are told as they were asked, with what became of them", async () => {
      const scene = shared();
      const ana = await scene.human("Ana Ruiz", { role: "Finance lead" });
      const kwargs = { order: "A-1007", amount: 49.9, currency: "EUR", lines: [2, null, "näher"] };
      const body = callBody({
        fn: "issue_refund",
        kwargs,
        channel: { human: { id: ana.id }, slack: null, email: { address: null } },
        reject_options: [{ name: "wrong_account", title: "Wrong account", description: null }],
        subject: "ignored",
      });
      const reply = await scene.agent.post("/function_calls", { ...body, status: null, more: 1 });
      const spec = {
        fn: "issue_refund",
        kwargs,
        channel: { human: { id: ana.id } },
        reject_options: [{ name: "wrong_account", title: "Wrong account" }],
      };
      assert.deepEqual([reply.status, reply.body.error?.message], [422, "spec.channel.email.address is required"]);
      const again = { ...body, spec: { ...body.spec, channel: { human: { id: ana.id }, slack: null, email: null } } };
      const created = await scene.agent.post("/function_calls", { ...again, status: null, more: 1 });
      const { ask_id } = accepted(created).status;
      const digest = "sha256:e64dd4d7994f082140fe27d37b8360462efcbf1206bcaba6b53200ab883d3c9c";
      const status = {
        requested_at: iso(scene),
        expires_at: iso(scene, 259_200_000),
        ask_id,
        consent_digest: digest,
      };
      assert.deepEqual(created.body, { run_id: "run_9", call_id: body.call_id, spec, status });
      assert.equal(created.headers.get("location"), `/humanlayer/v1/function_calls/${body.call_id}`);

      const path = `/agent/function_calls/${body.call_id}/respond`;
      const rejected = accepted(await ana.answer.post(path, { approved: false, reject_option_name: "wrong_account" }));
      assert.deepEqual(rejected.status, {
        ...status,
        approved: false,
        comment: "Wrong account",
        reject_option_name: "wrong_account",
        responded_at: iso(scene),
        resolved_at: iso(scene),
        user_info: { id: ana.id, name: "Ana Ruiz", role: "Finance lead", via: "api" },
      });
      for (const base of ["//", "//a2h/v1alpha1/", "//humanlayer/v1/", "//humanlayer//v1//"]) {
        const read = await scene.agent.get(`${base}function_calls/${body.call_id}/`);
        assert.deepEqual([base, read.body], [base, rejected]);
      }
    });

    it("keep integers of any size, nulls and whatever else stands in arguments and state", async () => {
      const scene = shared();
      const call_id = freshId();
      const text = `{"run_id":"r","call_id":"${call_id}","spec":{"fn":"ban_user","kwargs":{"user":1152921504606846977,"days":30.0},
        "state":{"big":-90071992547409931234,"nested":{"none":null,"list":[null,1e2]},"__proto__":{"x":1},"t":"\\u0000ä"}}}`;
      const reply = await scene.agent.call("POST", "/function_calls", text);
      assert.equal(reply.status, 200, reply.text);
      const digest = "sha256:2098d22ed408a500857a4626c04d8acac8f0609ceaf159e13b58e63ac007cac0";
      assert.equal(reply.body.status.consent_digest, digest);
      const read = await scene.agent.get(`/function_calls/${call_id}`);
      assert.equal(read.text, reply.text);
      assert.ok(read.text.includes('"kwargs":{"user":1152921504606846977,"days":30}'), read.text);
      const state =
        '"state":{"big":-90071992547409931234,"nested":{"none":null,"list":[null,100]},"__proto__":{"x":1},"t":"\\u0000ä"}';
      assert.ok(read.text.includes(state), read.text);
    });

    it("are the same when they say the same, and are then sent once", async () => {
      const scene = shared();
      const body = callBody({
        kwargs: { b: 1, a: null },
        channel: { email: { address: "Ana@Example.com", experimental_subject_line: "Refund" } },
      });
      const first = accepted(await scene.agent.post("/function_calls", body));
      const same = {
        ...body,
        status: null,
        spec: {
          channel: {
            slack: null,
            email: { experimentalSubjectLine: null, subject: "Refund", address: "Ana@Example.com" },
          },
          kwargs: { a: null, b: 1.0 },
          fn: body.spec.fn,
          reject_options: null,
        },
      };
      const replies = await Promise.all([1, 2, 3, 4].map(() => scene.agent.post("/function_calls", same)));
      for (const reply of replies) {
        assert.deepEqual([reply.status, reply.body.status.ask_id], [200, first.status.ask_id]);
        assert.equal(reply.headers.get("idempotency-replayed"), "true");
        assert.equal(reply.body.status.deliveries.length, 1);
      }
      const withoutNull = { ...body, spec: { ...body.spec, kwargs: { b: 1 } } };
      assert.equal((await scene.agent.post("/function_calls", withoutNull)).status, 409);
      const otherRun = { ...body, run_id: "run_10" };
      assert.equal((await scene.agent.post("/function_calls", otherRun)).status, 409);
    });

    it("are one when the same is asked several times at once", async () => {
      const scene = shared();
      const body = contactBody();
      const replies = await Promise.all(Array.from({ length: 8 }, () => scene.agent.post("/human_contacts", body)));
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
      assert.equal(new Set(replies.map((reply) => reply.body.status.ask_id)).size, 1);
      const fresh = replies.filter((reply) => reply.headers.get("idempotency-replayed") === null);
      assert.equal(fresh.length, 1);
    });

    it("may use the id of what was refused, and of another agent or kind", async () => {
      const scene = shared();
      const body = callBody();
      assert.equal((await scene.agent.post("/function_calls", { ...body, spec: { fn: "x" } })).status, 422);
      accepted(await scene.agent.post("/function_calls", body));
      accepted(await scene.agent.post("/human_contacts", contactBody({}, { call_id: body.call_id })));
      const other = await scene.holder({ name: "other", scope: "agent" });
      const elsewhere = await other.post("/function_calls", { ...body, run_id: "run_77" });
      assert.equal(accepted(elsewhere).status.approved, undefined);
    });

    it("end when nobody answers, and nobody has approved", async () => {
      const scene = shared();
      const call = callBody({ timeout_seconds: 3600 });
      const contact = contactBody({ timeout_seconds: 3600 });
      const kept = callBody({ timeout_seconds: 3600, on_timeout: "keep" });
      for (const [path, body] of [
        ["function_calls", call],
        ["human_contacts", contact],
        ["function_calls", kept],
      ] as const)
        accepted(await scene.agent.post(`/${path}`, body));
      const message = accepted(await scene.agent.post("/messages", messageBody({ timeout_seconds: 3600 })));
      await scene.world.advance(3_600_000);
      const read = async (path: string) => accepted(await scene.agent.get(path)).status;
      const ended = {
        requested_at: iso(scene, -3_600_000),
        resolved_at: iso(scene),
        expires_at: iso(scene),
        expired: true,
      };
      const over = await read(`/function_calls/${call.call_id}`);
      assert.deepEqual(over, {
        ...ended,
        ask_id: over.ask_id,
        consent_digest: over.consent_digest,
        approved: false,
        comment: "Not answered within 3600 s; treated as rejected, nobody decided.",
      });
      const silent = await read(`/human_contacts/${contact.call_id}`);
      assert.deepEqual(silent, { ...ended, ask_id: silent.ask_id, response: "[no human answered within 3600 s]" });
      const waiting = await read(`/function_calls/${kept.call_id}`);
      assert.deepEqual([waiting.approved, waiting.expires_at, waiting.expired], [undefined, undefined, undefined]);
      assert.deepEqual(await read(`/messages/${message.metadata.uid}`), { expired: true });
    });

    it("end when the agent withdraws them, as often as it says so", async () => {
      const scene = shared();
      const call = callBody();
      const contact = contactBody();
      accepted(await scene.agent.post("/function_calls", call));
      accepted(await scene.agent.post("/human_contacts", contact));
      const cancel = () => scene.agent.post(`/agent/function_calls/${call.call_id}/cancel`, { reason: "Done by hand" });
      const first = accepted(await cancel());
      assert.deepEqual(
        [first.status.approved, first.status.comment, first.status.cancelled, first.status.responded_at],
        [false, "Cancelled by the agent: Done by hand", true, undefined],
      );
      assert.deepEqual((await cancel()).body, first);
      const gone = accepted(await scene.agent.post(`/agent/human_contacts/${contact.call_id}/cancel`));
      assert.deepEqual([gone.status.response, gone.status.cancelled], ["[cancelled by the agent]", true]);
    });

    it("are told at once when they end, to whoever waits", async () => {
      const scene = shared();
      const ana = await scene.human("Ana Ruiz");
      const body = contactBody({ channel: { human: { id: ana.id } } });
      const { ask_id: requestId } = accepted(await scene.agent.post("/human_contacts", body)).status;
      const path = `/human_contacts/${body.call_id}`;
      const waiting: Promise<Reply> = scene.agent.get(`${path}?wait=55`);
      await until(() => [...scene.world.server.ctx.wake.topics()].includes(`request:${requestId}`));
      accepted(await ana.answer.post(`/agent${path}/respond`, { response: "Tuesday" }));
      assert.equal(accepted(await waiting).status.response, "Tuesday");
      assert.equal((await scene.agent.get(`${path}?wait=56`)).status, 422);
      assert.equal((await scene.agent.get(`${path}?wait=1.5`)).status, 422);
    });

    it("are listed while they are open, oldest first, to whoever may see them", async () => {
      await using scene = await openScene(on);
      const [ana, bo] = [await scene.human("Ana Ruiz"), await scene.human("Bo Lind", { inboxScope: "all" })];
      const bodies = [callBody({ channel: { human: { id: ana.id } } }), callBody(), callBody()];
      for (const body of bodies) {
        accepted(await scene.agent.post("/function_calls", body));
        await scene.world.advance(10);
      }
      accepted(await scene.agent.post("/human_contacts", contactBody()));
      const ids = async (by: { get(path: string): Promise<Reply> }, query = "") =>
        (await by.get(`/agent/function_calls/pending${query}`)).body.items.map(
          (one: { call_id: string }) => one.call_id,
        );
      const all = bodies.map(({ call_id }) => call_id);
      assert.deepEqual(await ids(scene.agent), all);
      assert.deepEqual(await ids(scene.admin), all);
      assert.deepEqual(await ids(bo.answer), all.slice(1), "what names somebody else is not Bo's to answer");
      assert.deepEqual(await ids(ana.answer), all.slice(0, 1));
      assert.deepEqual(await ids(scene.agent, "?limit=1&offset=1"), all.slice(1, 2));
      const { items: _, ...page } = (await scene.agent.get("/agent/function_calls/pending?limit=2")).body;
      assert.deepEqual(page, { total: 3, limit: 2, offset: 0, has_more: true });
      const other = await scene.holder({ name: "other", scope: "agent" });
      const nothing = { items: [], total: 0, limit: 100, offset: 0, has_more: false };
      assert.deepEqual((await other.get("/agent/function_calls/pending")).body, nothing);
    });

    it("name their channel in either spelling, keep secrets to themselves, and are echoed in one", async () => {
      const scene = shared();
      const channel = {
        slack: {
          channelOrUserId: "C024BE91L",
          allowedResponderIds: ["U2147483697"],
          botToken: "xoxb-very-secret",
          threadTs: null,
        },
        email: {
          address: "ana@example.com",
          experimental_in_reply_to_message_id: "<1@example.com>",
          template: "<p>{{ event.spec.msg }}</p>",
          additionalRecipients: [{ address: "bo@example.com", contextAboutUser: "lead", field: "cc" }],
        },
        channel_id: 1,
      };
      const body = contactBody({ channel });
      const reply = await scene.agent.post("/human_contacts", body);
      assert.deepEqual(accepted(reply).spec.channel, {
        slack: { channel_or_user_id: "C024BE91L", allowed_responder_ids: ["U2147483697"] },
        email: {
          address: "ana@example.com",
          template: "<p>{{ event.spec.msg }}</p>",
          additional_recipients: [{ address: "bo@example.com", context_about_user: "lead", field: "cc" }],
          in_reply_to_message_id: "<1@example.com>",
        },
        channel_id: 1,
      });
      assert.equal(reply.headers.get("parley-notice"), "email-template-off");
      assert.deepEqual(
        reply.body.status.deliveries.map(({ via, state }: { via: string; state: string }) => `${via} ${state}`).sort(),
        ["email queued", "email queued", "slack queued"],
      );
      const other = { ...channel, slack: { ...channel.slack, botToken: "xoxb-another" } };
      const differs = { ...body, spec: { ...body.spec, channel: other } };
      assert.equal((await scene.agent.post("/human_contacts", differs)).status, 409);
      const audit = await scene.admin.get("/audit?limit=1000");
      for (const text of [reply.text, audit.text]) assert.doesNotMatch(text, /xoxb-/);
    });

    it("reach everybody in a long list of long addresses, each once", async () => {
      const scene = shared();
      // No two share enough to fit in fewer bytes.
      const random = (bytes: number) => randomBytes(bytes).toString("hex");
      const addresses = Array.from({ length: 21 }, () => `${random(30)}@${random(30)}.${random(30)}.example`);
      const [address, ...others] = addresses;
      const additional_recipients = others.map((one) => ({ address: one }));
      const body = callBody({ channel: { email: { address, additional_recipients } } });
      accepted(await scene.agent.post("/function_calls", body));
      const reached = () =>
        scene.email.sent.map(({ target }) => (target as { to: string }).to).filter((to) => addresses.includes(to));
      await until(async () => {
        await scene.world.advance(1000);
        return reached().length >= addresses.length;
      });
      accepted(await scene.agent.post("/function_calls", body));
      await scene.world.advance(1000);
      assert.deepEqual(reached().sort(), addresses.sort());
    });

    it("escalate by themselves, with words that stand first", async () => {
      const scene = shared();
      const ana = await scene.human("Ana Ruiz", {
        prioritizedContactChannels: [{ email: { address: "esc@example.com" } }],
      });
      const escalation = [{ after_seconds: 600, channel: { human: { id: ana.id } }, escalation_msg: "Still open" }];
      const body = callBody({ escalation, timeout_seconds: 1200 });
      assert.deepEqual(accepted(await scene.agent.post("/function_calls", body)).spec.escalation, escalation);
      const respond = `/agent/function_calls/${body.call_id}/respond`;
      assert.equal((await ana.answer.post(respond, { approved: true })).status, 403);
      const mine = () => scene.email.sent.filter(({ target }) => (target as { to: string }).to === "esc@example.com");
      assert.equal(mine().length, 0);
      // It is due long before the request ends.
      await scene.world.advance(600_000);
      await advanceUntil(scene.world, 100, () => mine().length > 0);
      assert.equal(mine()[0]?.opening, "Still open");
      assert.equal(accepted(await ana.answer.post(respond, { approved: true })).status.approved, true);
    });
  });
}
