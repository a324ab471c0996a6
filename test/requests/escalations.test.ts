import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { AGENTS } from "../../src/connect/registry.ts";
import { isFixed } from "../../src/protocols/a2h/fixed.ts";
import { readByRef } from "../../src/requests/read/read-request.ts";
import { accepted, assertA2hError, callBody, contactBody, openScene, type Scene } from "../support/a2h.ts";
import { advanceUntil } from "../support/contract.ts";
import { tool } from "../support/mcp.ts";
import { DATABASES, ONE_DATABASE } from "../support/world.ts";

const EVE = "eve@attacker.example";
const mail = (address: string) => ({ email: { address } });

/** Creates people with a mail address each. */
async function withPeople(scene: Scene, ...names: string[]) {
  return Promise.all(
    names.map(async (name) => {
      const address = `${name}@people.example`;
      const human = await scene.human(name, { prioritizedContactChannels: [mail(address)] });
      return { ...human, address, asked: { human: { id: human.id } } };
    }),
  );
}

/** Resolves with the newest notice to an address, when there are so many. */
async function noticeTo(scene: Scene, address: string, count = 1) {
  const to = () => scene.email.sent.filter(({ target }) => (target as { to: string }).to === address);
  await advanceUntil(scene.world, 500, () => to().length >= count);
  const last = to().at(-1);
  assert.ok(last);
  return last;
}

const tells = ({ link, code, replyToken, target }: Awaited<ReturnType<typeof noticeTo>>) =>
  !link.includes("/r/") && code === "" && replyToken === "" && (target as { informed: boolean }).informed;

for (const on of DATABASES) {
  describe(`escalations of what several have to agree on, on ${on}`, () => {
    it("tell more people, and leave the decision with those who have to agree", async () => {
      await using scene = await openScene(on);
      const [ana, bo, cy] = await withPeople(scene, "ana", "bo", "cy");
      assert.ok(ana && bo && cy);
      const both = [ana.asked, bo.asked];
      const channels = [
        { all_of: both },
        { quorum: { min: 2, of: both } },
        { quorum: { min: 1, of: [{ all_of: both }] } },
        { any_of: [{ all_of: both }, { timeout: 3000, channel: bo.asked }] },
      ];
      for (const [i, channel] of channels.entries()) {
        const step = (after_seconds: number, more: object) => ({
          after_seconds,
          channel: more,
          escalation_msg: "Please",
        });
        const escalation = [step(1, mail(EVE)), step(2, cy.asked), step(3, mail(cy.address))];
        const body = callBody({ channel, escalation, timeout_seconds: 5000 });
        accepted(await scene.agent.post("/function_calls", body));
        const before = await readByRef(scene.world.server.ctx, "agent:support", `call:${body.call_id}`);
        const more = { escalation_msg: "Please", channel: mail(EVE) };
        for (const holder of [scene.agent, scene.admin])
          accepted(await holder.post(`/agent/function_calls/${body.call_id}/escalate_email`, more));
        assert.ok(tells(await noticeTo(scene, EVE, 3 * (i + 1))));
        assert.ok(tells(await noticeTo(scene, cy.address, 2 * (i + 1))));
        const { audience } = await readByRef(scene.world.server.ctx, "agent:support", `call:${body.call_id}`);
        assert.deepEqual(audience, before.audience);
        const respond = `/agent/function_calls/${body.call_id}/respond`;
        assert.equal((await cy.answer.post(respond, { approved: true })).status, 404);
        assert.equal(accepted(await ana.answer.post(respond, { approved: true })).status.approved, undefined);
        assert.equal(accepted(await bo.answer.post(respond, { approved: true })).status.approved, true);
      }
    });
  });
}

for (const on of ONE_DATABASE) {
  describe(`whom an escalation adds, on ${on}`, () => {
    let scene: Scene;
    let people: Awaited<ReturnType<typeof withPeople>>;
    const folder = mkdtempSync(join(tmpdir(), "parley-escalations-"));
    const env = {
      PARLEY_A2H_RECIPIENT_PATTERNS: "*@ops.example",
      PARLEY_A2H_RECIPIENTS: "any",
      PARLEY_CONFIG: join(folder, "parley.yaml"),
    };
    before(async () => {
      writeFileSync(env.PARLEY_CONFIG, "a2h: { channels: { duty: { email: { address: duty@people.example } } } }");
      scene = await openScene(on, { env });
      people = await withPeople(scene, "ana", "bo");
    });
    after(async () => {
      await scene[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Returns the people who may decide after an escalation to all of these, and could not before. */
    async function added(path: "function_calls" | "human_contacts", body: { call_id: string }, by = scene.agent) {
      const to = ["bo@people.example", "dee@ops.example", EVE];
      const counts = to.map(
        (one) => scene.email.sent.filter(({ target }) => (target as { to: string }).to === one).length,
      );
      const [address, ...others] = to;
      const channel = { email: { address, additional_recipients: others.map((one) => ({ address: one })) } };
      const escalated = await by.post(`/agent/${path}/${body.call_id}/escalate_email`, {
        escalation_msg: "Please",
        channel,
      });
      accepted(escalated);
      const found: string[] = [];
      for (const [i, one] of to.entries()) {
        if (!tells(await noticeTo(scene, one, (counts[i] ?? 0) + 1))) found.push(one);
      }
      return found;
    }

    it("are enrolled people and whoever a pattern names, where the asker named addresses", async () => {
      const channels = [
        { inbox: {} },
        mail("cy@people.example"),
        { any_of: [mail("cy@people.example"), { inbox: {} }] },
        undefined,
      ];
      for (const channel of channels) {
        const body = callBody(channel && { channel });
        accepted(await scene.agent.post("/function_calls", body));
        assert.deepEqual(
          await added("function_calls", body),
          ["bo@people.example", "dee@ops.example"],
          JSON.stringify(channel),
        );
        const contact = contactBody(channel && { channel });
        accepted(await scene.agent.post("/human_contacts", contact));
        assert.deepEqual(await added("human_contacts", contact), ["bo@people.example", "dee@ops.example"]);
      }
    });

    it("are nobody where a person, a group or a channel is named, or a hook asked", async () => {
      const [ana] = people;
      assert.ok(ana);
      const channels = [
        ana.asked,
        { channel_id: "duty" },
        { channel_id: ana.id },
        { any_of: [ana.asked, { inbox: {} }] },
      ];
      for (const channel of channels) {
        const body = callBody({ channel });
        accepted(await scene.agent.post("/function_calls", body));
        assert.deepEqual(await added("function_calls", body), [], JSON.stringify(channel));
      }
      const ofHook = callBody({}, { agent_prompt: { agent: "codex" } });
      accepted(await scene.agent.post("/function_calls", ofHook));
      assert.deepEqual(await added("function_calls", ofHook), []);
      const question = contactBody({}, { agent_prompt: { agent: "opencode" } });
      accepted(await scene.agent.post("/human_contacts", question));
      assert.deepEqual(await added("human_contacts", question), []);
      const usual = await scene.holder({ name: "ofduty", scope: "agent", channel: "duty" });
      const ofKey = callBody();
      accepted(await usual.post("/function_calls", ofKey));
      assert.deepEqual(await added("function_calls", ofKey, usual), []);
    });

    it("are known as nobody for every agent of the registry, also where a hook of 0.2 asks, by its ids alone", async () => {
      for (const agent of Object.keys(AGENTS)) {
        for (const more of [{ agent_prompt: { agent } }, { call_id: `${agent}:toolu_1` }]) {
          const body = callBody({}, more);
          accepted(await scene.agent.post("/function_calls", body));
          const request = await readByRef(scene.world.server.ctx, "agent:support", `call:${body.call_id}`);
          assert.ok(request.promptOf === agent && isFixed(request), JSON.stringify(more));
        }
      }
    });

    it("are nobody where a tool asked", async () => {
      const args = { fn: "deploy", kwargs: {}, max_wait_seconds: 0 };
      const { structuredContent: asked } = await tool(scene.world, "request_approval", args, {
        headers: { authorization: `Bearer ${scene.agent.key}` },
      });
      const body = callBody({}, { call_id: String(asked.call_id) });
      assert.deepEqual(await added("function_calls", body), []);
    });

    it("are whoever an admin names", async () => {
      const body = callBody({ channel: people[0]?.asked });
      accepted(await scene.agent.post("/function_calls", body));
      assert.deepEqual((await added("function_calls", body, scene.admin)).length, 3);
    });

    it("are told and not asked by a step of the request too, whatever its channel", async () => {
      const step = (after_seconds: number, channel: object) => ({ after_seconds, channel, escalation_msg: "Please" });
      const steps = [mail(EVE), { slack: { channel_or_user_id: "U0EVE" } }, { slack: { channel_or_user_id: "C0EVE" } }];
      const escalation = steps.map((one, i) => step(10 + i, one));
      const body = callBody({ channel: { inbox: {} }, escalation, timeout_seconds: 600 });
      accepted(await scene.agent.post("/function_calls", body));
      const { audience } = await readByRef(scene.world.server.ctx, "agent:support", `call:${body.call_id}`);
      assert.deepEqual(audience, { kind: "leaf", target: { via: "inbox" } });
      const posts = () => scene.slack.sent.filter(({ opening }) => opening === "Please");
      await advanceUntil(scene.world, 1000, () => posts().length === 2);
      for (const { link, code, replyToken, whole } of posts()) {
        assert.ok(!link.includes("/r/"));
        assert.deepEqual([code, replyToken, whole], ["", "", false]);
      }
    });
  });

  describe(`recipients of requests, on ${on}`, () => {
    const status = async (scene: Scene, channel: object) =>
      (await scene.agent.post("/function_calls", callBody({ channel }))).status;

    it("are anybody until somebody beside the operator is enrolled, and enrolled people from then on", async () => {
      await using scene = await openScene(on, { env: { PARLEY_A2H_RECIPIENT_PATTERNS: "*@ops.example,U0DEE" } });
      const slack = (to: string, more: object = {}) => ({ slack: { channel_or_user_id: to, ...more } });
      const copied = {
        email: { address: "bo@people.example", additional_recipients: [{ address: EVE, field: "bcc" }] },
      };
      const unknown = [
        mail(EVE),
        slack("U0EVE"),
        slack("C024BE91L", { allowed_responder_ids: ["U0DEE", "U0EVE"] }),
        copied,
        { any_of: [{ inbox: {} }, mail(EVE)] },
      ];
      for (const channel of unknown) assert.equal(await status(scene, channel), 200);
      const [bo] = await withPeople(scene, "bo");
      assert.ok(bo);
      for (const channel of unknown) assert.equal(await status(scene, channel), 403, JSON.stringify(channel));
      const known = [
        mail(bo.address),
        mail("Dee@ops.example"),
        slack("U0DEE"),
        slack("C024BE91L"),
        slack("C024BE91L", { allowed_responder_ids: ["U0DEE"] }),
        bo.asked,
        { inbox: {} },
      ];
      for (const channel of known) assert.equal(await status(scene, channel), 200, JSON.stringify(channel));
      assertA2hError(await scene.agent.post("/function_calls", callBody({ channel: mail(EVE) })), 403, {
        code: "recipient_not_allowed",
        message: "This server does not write to that recipient.",
        path: "/spec/channel/email/address",
      });
      const { body } = await scene.agent.post("/channels/validate", { channel: mail(EVE) });
      assert.deepEqual([body.valid, body.errors[0].code], [false, "recipient_not_allowed"]);
    });

    it("are whom the setting says, whoever is enrolled", async () => {
      for (const [setting, statuses] of [
        ["any", [200, 200]],
        ["enrolled", [403, 403]],
      ] as const) {
        await using scene = await openScene(on, { env: { PARLEY_A2H_RECIPIENTS: setting } });
        const before = await status(scene, mail(EVE));
        await withPeople(scene, "bo");
        assert.deepEqual([before, await status(scene, mail(EVE))], statuses);
      }
    });
  });
}
