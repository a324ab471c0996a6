import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ParleyError } from "@parley/sdk/errors";
import { Inbox } from "@parley/sdk/inbox";
import { accepted, callBody, contactBody } from "../support/a2h.ts";
import { openTalking, type Talking } from "../support/conversations.ts";

const SETTINGS = `
a2h: { entry_points: { support: { agent: support, inbox: true } } }
`;

const refused = (by: Promise<unknown>, status: number, code: ParleyError["code"]): Promise<void> =>
  assert.rejects(by, (error) => {
    assert.ok(error instanceof ParleyError, String(error));
    assert.deepEqual([error.status, error.code], [status, code]);
    return true;
  });

describe("an inbox by the SDK", () => {
  let scene: Talking;
  let ana: string;
  let inbox: Inbox;
  before(async () => {
    scene = await openTalking("sqlite", SETTINGS);
    ana = await scene.enroll("Ana Ruiz", { inbox: {} });
    const { key } = await scene.holder({ name: "of-ana", scope: "answer", person: ana });
    inbox = new Inbox({ url: scene.world.url, key, retries: 0 });
  });
  after(() => scene[Symbol.asyncDispose]());

  it("shows what waits, takes the decision once, and keeps what is over", async () => {
    const stop = new AbortController();
    const changes = inbox.events({ signal: stop.signal });
    const connected = changes.next();
    const call = callBody({ channel: { human: { id: ana } } });
    accepted(await scene.agent.post("/function_calls", call));
    assert.ok(!(await connected).done);

    const { asks, counts } = await inbox.asks({ kind: "approval", agent: "support" });
    assert.deepEqual([asks.map(({ fn }) => fn), counts?.all], [["issue_refund"], 1]);
    const { id = "" } = asks[0] ?? {};
    assert.deepEqual((await inbox.asks({ kind: "reply" })).asks, []);
    const whole = await inbox.ask(id);
    assert.equal(whole.arguments?.[0]?.name, "order");

    await refused(inbox.decide(id, { approved: true, digest: `sha256:${"0".repeat(64)}` }), 409, "DIGEST_MISMATCH");
    const decision = { approved: true, digest: whole.digest ?? "", comment: "Seen." };
    assert.equal((await inbox.decide(id, decision)).outcome?.approved, true);
    assert.equal((await inbox.decide(id, decision)).outcome?.comment, "Seen.");
    await refused(inbox.decide(id, { approved: false }), 409, "ALREADY_DECIDED");
    assert.deepEqual(
      (await inbox.asks({ state: "over", q: "refund" })).asks.map((ask) => ask.id),
      [id],
    );
    stop.abort(new Error("enough"));
    await assert.rejects(async () => {
      for await (const _ of changes);
    }, /enough/);
  });

  it("begins a conversation, and answers in it what its agent asks", async () => {
    assert.deepEqual(
      (await inbox.conversations()).entry_points.map(({ name }) => name),
      ["support"],
    );
    const { id } = await inbox.beginConversation({ entry_point: "support", text: "Where is order 7?", id: "a1" });
    await inbox.say(id, { text: "It is urgent.", id: "a2" });
    const contact = contactBody({ msg: "Which address?", channel: { channel_id: id } });
    accepted(await scene.agent.post("/human_contacts", contact));
    await inbox.say(id, { text: "12 Elm Street", id: "a3" });
    const { status } = accepted(await scene.agent.get(`/human_contacts/${contact.call_id}`));
    assert.equal(status.response, "12 Elm Street");
    const { messages, asks } = await inbox.conversation(id);
    assert.deepEqual([messages.length, asks.map(({ words }) => words)], [2, ["Which address?"]]);
  });

  it("says why something is refused", async () => {
    await refused(inbox.ask("ask_none"), 404, "NOT_FOUND");
    await refused(inbox.task("ask_none"), 404, "NOT_FOUND");
    const review = { verdict: "approve", attempt: 1 } as const;
    await refused(inbox.reviewTask("ask_none", review), 404, "NOT_FOUND");
    await refused(inbox.conversation(999), 404, "NOT_FOUND");
    await refused(inbox.asks({ state: "over", due: "soon" }), 400, "VALIDATION_ERROR");
    await refused(new Inbox({ url: scene.world.url, retries: 0 }).asks(), 401, "UNAUTHORIZED");
  });
});
