import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { verifiedWebhookId, webhookSignature } from "../../../src/lib/network/standard-webhooks.ts";
import { pauseBeforeRetry } from "../../../src/lib/back-off.ts";
import { WEBHOOK_RETRIES } from "../../../src/notices/model/webhook-events.ts";
import { accepted, callBody, contactBody, messageBody, openScene, type Scene } from "../../support/a2h.ts";
import { openAgentServer } from "../../support/agent-server.ts";
import { advanceUntil, until } from "../../support/contract.ts";
import { ONE_DATABASE } from "../../support/world.ts";

/** Lets the server's loops look until something holds. */
async function settle(scene: Scene, holds: () => boolean | Promise<boolean>, stepMs = 1000): Promise<void> {
  await advanceUntil(scene.world, stepMs, holds);
}

const endpoint = (scene: Scene, body: Record<string, unknown>) => scene.agent.post("/webhook_endpoints", body);

describe("what signs a webhook", () => {
  it("is as the vector says", () => {
    const body = Buffer.from('{"type":"function_call.completed","is_test":true}');
    const secret = "whsec_cGFybGV5LXdlYmhvb2stdGVzdC1rZXkh";
    const signature = webhookSignature(secret, "msg_01JD3W0000000000000000TEST", 1_795_219_200, body);
    assert.equal(signature, "TNKZZGwdAxcz/R9wN8yY5gAt9omHzcyehud73ek78Jk=");
  });

  it("is tried ten times over 75 hours and a half", () => {
    const pauses = Array.from({ length: 10 }, (_, i) => pauseBeforeRetry(WEBHOOK_RETRIES, i + 1));
    assert.equal(pauses.at(-1), null);
    assert.equal(
      pauses.reduce<number>((sum, ms) => sum + (ms ?? 0), 0),
      (75 * 60 + 35) * 60_000 + 5000,
    );
    const first = (more: { luck?: number; askedMs?: number }) => pauseBeforeRetry(WEBHOOK_RETRIES, 1, more);
    const longest = [first({ luck: 1 }), first({ askedMs: 60_000 }), first({ askedMs: 1e12 })];
    assert.deepEqual(longest, [5500, 60_000, 86_400_000]);
  });
});

for (const on of ONE_DATABASE) {
  describe(`webhooks of A2H on ${on}`, () => {
    it("leave as soon as the request is over, while the clock stands", async () => {
      await using scene = await openScene(on);
      await using agent = await openAgentServer();
      accepted(await endpoint(scene, { url: agent.url, format: "a2h" }));
      const contact = contactBody();
      accepted(await scene.agent.post("/human_contacts", contact));
      accepted(await scene.agent.post(`/agent/human_contacts/${contact.call_id}/cancel`));
      await until(() => agent.told.length === 1);
    });

    it("tell the agent how its requests ended, signed, in the format it wants", async () => {
      await using scene = await openScene(on);
      await using agent = await openAgentServer();
      const ana = await scene.human("Ana Ruiz");
      const secrets = new Map<string, string>();
      for (const format of ["v1beta1", "v1beta2", "v1beta3", "a2h"]) {
        const created = await endpoint(scene, { url: `${agent.url}/${format}`, format });
        const { id, secret, ...rest } = created.body;
        assert.equal(created.status, 201);
        assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
        assert.equal(created.headers.get("location"), `/humanlayer/v1/webhook_endpoints/${id}`);
        const { created_at: _, ...told } = rest;
        const expected = { url: `${agent.url}/${format}`, format, events: [], description: "", enabled: true };
        const fine = { failing_since: null, last_error: null };
        assert.deepEqual(told, { agent: "support", ...expected, ...fine });
        secrets.set(format, secret);
      }
      const call = callBody({ channel: { human: { id: ana.id } }, state: { big: 1 } });
      const contact = contactBody();
      accepted(await scene.agent.post("/function_calls", call));
      accepted(await scene.agent.post("/human_contacts", contact));
      const message = accepted(await scene.agent.post("/messages", messageBody({ timeout_seconds: 60 })));
      accepted(await ana.answer.post(`/agent/function_calls/${call.call_id}/respond`, { approved: true }));
      accepted(await scene.agent.post(`/agent/human_contacts/${contact.call_id}/cancel`));
      await scene.world.advance(60_000);
      await settle(scene, () => agent.told.length >= 9);

      const read = accepted(await scene.agent.get(`/function_calls/${call.call_id}`));
      const calls = agent.told.filter(({ text }) => text.includes(call.call_id));
      const type = "function_call.completed";
      const head = { apiVersion: "proto.a2h.dev/v1alpha1", kind: "FunctionCall", metadata: { uid: call.call_id } };
      const bodies = calls.map(({ body }) => JSON.stringify(body)).sort();
      const wrapped = { is_test: false, type, event: read };
      assert.deepEqual(bodies, [read, wrapped, wrapped, { ...head, ...read }].map((one) => JSON.stringify(one)).sort());
      const messages = agent.told.filter(({ body }) => body.kind === "Message");
      assert.deepEqual(
        messages.map(({ body }) => [body.metadata.uid, body.status]),
        [[message.metadata.uid, { expired: true }]],
      );
      for (const one of agent.told) {
        assert.equal(one.headers["webhook-id"], one.headers["svix-id"]);
        assert.equal(one.headers["webhook-signature"], one.headers["svix-signature"]);
        const now = Number(one.headers["webhook-timestamp"]) * 1000;
        const request = { rawHeaders: one.rawHeaders, body: Buffer.from(one.text) };
        const signers = [...secrets.values()].filter(
          (secret) => verifiedWebhookId(request, [secret], now) !== undefined,
        );
        assert.equal(signers.length, 1);
      }
      assert.equal(new Set(agent.told.map(({ headers }) => headers["webhook-id"])).size, 9);
    });

    it("come again until they are taken, and say the same each time", async () => {
      await using scene = await openScene(on);
      await using agent = await openAgentServer([500, 302, 200]);
      const created = accepted(
        await endpoint(scene, { url: agent.url, format: "v1beta2", events: ["v1beta2.human_contact.completed"] }),
      );
      assert.deepEqual(created.events, ["human_contact.completed"]);
      const [call, contact] = [callBody(), contactBody()];
      accepted(await scene.agent.post("/function_calls", call));
      accepted(await scene.agent.post("/human_contacts", contact));
      accepted(await scene.agent.post(`/agent/function_calls/${call.call_id}/cancel`));
      accepted(await scene.agent.post(`/agent/human_contacts/${contact.call_id}/cancel`));
      const deliveries = async (query = "") =>
        accepted(await scene.agent.get(`/webhook_endpoints/${created.id}/deliveries${query}`)).items;
      await settle(scene, async () => (await deliveries())[0]?.state === "delivered", 10_000);
      assert.equal(agent.told.length, 3);
      assert.equal(new Set(agent.told.map(({ text, headers }) => `${String(headers["webhook-id"])} ${text}`)).size, 1);
      const [one, ...others] = await deliveries();
      assert.deepEqual([one.attempts, one.status, one.event, others.length], [3, 200, "human_contact.completed", 0]);
      assert.deepEqual(await deliveries("?state=dead"), []);

      const retry = await scene.agent.post(`/webhook_endpoints/${created.id}/deliveries/${one.id}/retry`);
      assert.deepEqual([retry.status, retry.body], [202, { count: 1 }]);
      await settle(scene, () => agent.told.length === 4);
      const replay = await scene.agent.post(`/webhook_endpoints/${created.id}/replay`, {
        since: "2020-01-01T00:00:00Z",
      });
      assert.deepEqual([replay.status, replay.body], [202, { count: 1 }]);
      await settle(scene, () => agent.told.length === 5);
      // The agent has it before the server knows that it has.
      await settle(scene, async () =>
        (await deliveries()).every(({ state }: { state: string }) => state === "delivered"),
      );
      // The deliveries are deleted with the request.
      await scene.world.advance(8 * 86_400_000);
      await settle(scene, async () => (await deliveries()).length === 0, 60_000);
    });

    it("stop where they are gone, can be tried, and change their secret without a gap", async () => {
      await using scene = await openScene(on);
      await using agent = await openAgentServer([200, 200, 410]);
      const created = accepted(await endpoint(scene, { url: agent.url, format: "v1beta1" }));
      const path = `/webhook_endpoints/${created.id}`;
      const tried = await scene.agent.post(`${path}/test`, { event: "agent_email.received" });
      assert.equal(tried.status, 202);
      await settle(scene, () => agent.told.length === 1);
      const [mail] = agent.told;
      assert.deepEqual([mail?.body.from_address, mail?.body.is_test], ["overworked-admin@coolcompany.com", true]);

      const { secret } = accepted(await scene.agent.post(`${path}/rotate_secret`));
      assert.notEqual(secret, created.secret);
      accepted(await scene.agent.post(`${path}/test`));
      await settle(scene, () => agent.told.length === 2);
      const second = agent.told[1] ?? assert.fail("nothing came");
      const now = Number(second.headers["webhook-timestamp"]) * 1000;
      const request = { rawHeaders: second.rawHeaders, body: Buffer.from(second.text) };
      for (const one of [secret, created.secret]) assert.ok(verifiedWebhookId(request, [one], now), "both sign");

      accepted(await scene.agent.post(`${path}/test`));
      await settle(scene, async () => !accepted(await scene.agent.get(path)).enabled);
      const changed = accepted(await scene.agent.call("PATCH", path, { enabled: true, description: "back" }));
      assert.deepEqual([changed.enabled, changed.description, changed.url], [true, "back", agent.url]);
      assert.equal(changed.secret, undefined);
      assert.equal((await scene.agent.call("DELETE", path)).status, 204);
      assert.equal((await scene.agent.get(path)).status, 404);
    });

    it("are an agent's own, and lead nowhere inside", async () => {
      await using scene = await openScene(on);
      const created = accepted(await endpoint(scene, { url: "https://agent.example.com/hooks", format: "a2h" }));
      const other = await scene.holder({ name: "other", scope: "agent" });
      const path = `/webhook_endpoints/${created.id}`;
      for (const [method, rest] of [
        ["GET", ""],
        ["PATCH", ""],
        ["DELETE", ""],
        ["POST", "/test"],
        ["GET", "/deliveries"],
      ] as const) {
        const reply = await other.call(
          method,
          `${path}${rest}`,
          method === "GET" || method === "DELETE" ? undefined : {},
        );
        assert.deepEqual([reply.status, reply.body.error.message], [404, "There is no such webhook endpoint."]);
      }
      assert.deepEqual(accepted(await other.get("/webhook_endpoints")).items, []);
      const ids = (items: { id: string }[]) => items.map(({ id }) => id);
      assert.deepEqual(ids(accepted(await scene.admin.get("/webhook_endpoints?agent=support")).items), [created.id]);
      const ofAdmin = { url: "https://agent.example.com/hooks", format: "a2h" };
      assert.equal((await scene.admin.post("/webhook_endpoints", ofAdmin)).status, 422);
      assert.equal(
        accepted(await scene.admin.post("/webhook_endpoints", { ...ofAdmin, agent: "other" })).agent,
        "other",
      );
      assert.equal(accepted(await other.get("/webhook_endpoints")).items.length, 1);
      const open = await scene.world.call("GET", "/humanlayer/v1/webhook_endpoints");
      assert.deepEqual([open.status, open.body.error.code], [403, "insufficient_scope"]);
      for (const url of [
        "http://agent.example.com/",
        "https://10.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://a@agent.example.com/",
        "https://agent.example.com:8443/",
        "ftp://agent.example.com/",
        "x",
      ]) {
        const reply = await endpoint(scene, { url, format: "a2h" });
        assert.deepEqual([url, reply.status, reply.body.detail?.[0]?.loc], [url, 422, ["body", "url"]]);
      }
      assert.equal((await endpoint(scene, { ...ofAdmin, format: "v2" })).status, 422);
      assert.equal(
        (await endpoint(scene, { ...ofAdmin, format: "v1beta1", events: ["message.completed"] })).status,
        422,
      );
    });
  });
}
