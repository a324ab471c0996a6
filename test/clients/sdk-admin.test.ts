import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Admin } from "@parley/sdk/admin";
import { ParleyError } from "@parley/sdk/errors";
import { openScene, type Scene } from "../support/a2h.ts";
import { openAgentServer } from "../support/agent-server.ts";
import { advanceUntil, fresh } from "../support/contract.ts";

describe("administration by the SDK", () => {
  let scene: Scene;
  let admin: Admin;
  before(async () => {
    scene = await openScene("sqlite");
    admin = new Admin({ url: scene.world.url, key: scene.admin.key, retries: 0 });
  });
  after(() => scene[Symbol.asyncDispose]());

  it("enrolls a person, lets them in, gives them a key, and takes all of it back", async () => {
    const name = fresh("Ana Ruiz");
    const { id } = await admin.addHuman({
      name,
      prioritizedContactChannels: [{ email: { address: "ana@a.example" } }],
    });
    const change = { name, role: "Treasurer", prioritizedContactChannels: [{ inbox: {} }] };
    assert.deepEqual((await admin.replaceHuman(id, change)).prioritizedContactChannels, [{ inbox: {} }]);
    assert.equal((await admin.humans()).find((human) => human.id === id)?.role, "Treasurer");

    assert.match((await admin.createSignInLink(id)).url, /#start=/);
    assert.deepEqual(await admin.changeRole(id, "admin"), { id, name, role: "admin" });
    assert.equal((await admin.people()).find((person) => person.id === id)?.role, "admin");
    await admin.endSessions(id);

    const { key, ...made } = await admin.createKey({ name: fresh("phone"), scope: "answer", person: id });
    assert.match(key, /^parley_answer_/);
    assert.deepEqual(
      (await admin.keys()).find((one) => one.id === made.id),
      made,
    );
    assert.notEqual((await admin.revokeKey(made.id)).revoked_at, null);
    await admin.removeHuman(id);
    assert.ok(!(await admin.humans()).some((human) => human.id === id));
  });

  it("tries a channel", async () => {
    const { id } = await scene.human(fresh("Bo Lind"), {
      prioritizedContactChannels: [{ email: { address: "b@a.example" } }],
    });
    assert.ok((await admin.channels()).some(({ channel, configured }) => channel === "email" && configured));
    const begun = await admin.startChannelTest({ channel: "email", person: id });
    await advanceUntil(scene.world, 1000, async () => (await admin.channelTest(begun.id)).state === "sent");
  });

  it("tries a webhook, sends what it said again, and turns it off", async () => {
    await using agent = await openAgentServer();
    const { id } = (await scene.agent.post("/webhook_endpoints", { url: agent.url, format: "a2h" })).body as {
      id: string;
    };
    assert.deepEqual(
      (await admin.webhooks()).map((webhook) => webhook.id),
      [id],
    );
    const { event } = await admin.testWebhook(id);
    const delivered = async (): Promise<boolean> =>
      (await admin.webhookDeliveries(id, { limit: 1 })).items[0]?.state === "delivered";
    await advanceUntil(scene.world, 1000, delivered);
    const [first] = (await admin.webhookDeliveries(id)).items;
    assert.equal(first?.event, event);
    assert.deepEqual(await admin.retryDelivery(id, first.id), { count: 1 });
    assert.equal((await admin.changeWebhook(id, { enabled: false })).enabled, false);
  });

  it("reads the record from its end, by what is looked for, and whether all is whole", async () => {
    for (const name of ["one", "two"]) await admin.createKey({ name: fresh(name), scope: "agent" });
    const { items, head } = await admin.audit({ action: "key.created", limit: 1 });
    assert.equal(items[0]?.seq, head.seq);
    const older = await admin.audit({ action: "key.created", before: head.seq, limit: 1 });
    assert.equal(older.items[0]?.seq, head.seq - 1);
    assert.equal((await admin.auditChain()).holds, true);
    const { holds, quick } = await admin.health({ full: true });
    assert.deepEqual([holds, quick], [true, false]);
  });

  it("says why something is refused", async () => {
    const refused = (by: Promise<unknown>, status: number, code: ParleyError["code"]): Promise<void> =>
      assert.rejects(by, (error) => error instanceof ParleyError && error.status === status && error.code === code);
    const person = "1";
    await refused(admin.changeRole(person, "member"), 400, "VALIDATION_ERROR");
    await refused(admin.createSignInLink("999"), 404, "NOT_FOUND");
    await refused(admin.addHuman({ name: "Bo", prioritizedContactChannels: [] }), 422, "validation_failed");
    await refused(admin.removeHuman("999"), 404, "not_found");
    await refused(admin.removeHuman(person), 422, "validation_failed");
    await refused(admin.createKey({ name: "two words", scope: "agent" }), 400, "VALIDATION_ERROR");
    await refused(admin.startChannelTest({ channel: "sms", person }), 400, "VALIDATION_ERROR");
    await refused(admin.testWebhook("nobody"), 404, "not_found");
    const agent = new Admin({ url: scene.world.url, key: scene.agent.key, retries: 0 });
    await refused(agent.people(), 403, "FORBIDDEN");
    await refused(agent.humans(), 403, "insufficient_scope");
    await refused(new Admin({ url: scene.world.url, retries: 0 }).keys(), 401, "UNAUTHORIZED");
  });
});
