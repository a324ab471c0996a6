import type { WebhookDestination } from "../../src/channels/webhook/destination.ts";
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { DeliveryError, type Channel, type HookReply, type Notice } from "../../src/channels/channel.ts";
import { webhookChannel, type WebhookTarget } from "../../src/channels/webhook/webhook.ts";
import { openGuardedFetch, type GuardRules } from "../../src/lib/network/guarded-fetch.ts";
import { sha256Digest } from "../../src/lib/json/exact-json.ts";
import { signedWebhookHeaders } from "../../src/lib/network/standard-webhooks.ts";
import { viewOf } from "../../src/requests/model/view.ts";
import { findRequest } from "../../src/requests/store/requests.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { findHuman } from "../../src/access/store/humans.ts";
import { advanceUntil } from "../support/contract.ts";
import { askPeople, newCallRequest, enrol, leaf } from "../support/addressed.ts";
import { openWorld, type Reply, type World } from "../support/world.ts";
import { openReceiver, type Receiver } from "./webhook-receiver.ts";

const SECRET = `whsec_${Buffer.from("parley-webhook-test-key!canary-1").toString("base64")}`;
const OTHER = `whsec_${Buffer.from("parley-webhook-test-key!canary-2").toString("base64")}`;
const AT_HOME: GuardRules = { allow: [], loopbackOnly: true };
const DELIVERY = "dlv_4Jx0mT9bVq2Lr7Hs1Zc8Wd";
const NEVER = new AbortController().signal;

describe("requests to the operator's own programs", () => {
  let receiver: Receiver;
  let world: World | undefined;
  let people: string[] = [];
  let channel: Channel<WebhookTarget>;

  before(async () => {
    receiver = await openReceiver();
  });
  beforeEach(async () => {
    await world?.[Symbol.asyncDispose]();
    receiver.arrived.length = 0;
    receiver.replies.length = 0;
    // The people for whom the targets may speak are known once they are enrolled. The channel reads the list when asks
    // are made.
    people = [];
    channel = open({
      desk: { url: `${receiver.origin}/desk`, secret: SECRET, humans: people },
      other: { url: `${receiver.origin}/other`, secret: OTHER, humans: people },
    });
    world = await openWorld({ on: "sqlite", channels: [channel as Channel] });
  });
  after(async () => {
    await world?.[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });

  /** The receivers' libraries check the time against this machine's, so messages to them are signed by it. */
  function open(destinations: Record<string, WebhookDestination>, rules = AT_HOME): Channel<WebhookTarget> {
    const publicUrl = () => "https://parley.example.com";
    const made = webhookChannel(destinations, {
      guardedFetch: openGuardedFetch(() => rules),
      now: () => Date.now(),
      publicUrl,
    });
    return made ?? assert.fail("no channel");
  }
  const here = (): World => world ?? assert.fail();
  const target = (to = "desk"): WebhookTarget => ({ via: "webhook", to, people });

  async function notice(more: Parameters<typeof askPeople>[1] = {}): Promise<Notice<WebhookTarget>> {
    return {
      delivery: DELIVERY,
      target: target(),
      view: viewOf(await askPeople(here().server.ctx, more)),
      link: "https://parley.example.com/r/canary-token",
      code: "7KQ2",
      messageName: "dlv_nameOfTheMessage000000",
      replyToken: "a".repeat(26),
      informsOnly: false,
      whole: true,
      reminder: false,
      opening: null,
    };
  }

  it("are signed so that both libraries for it believe them, and nobody else's", async () => {
    await channel.send(await notice(), NEVER);
    const [{ headers, text } = assert.fail()] = receiver.arrived;
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    assert.ok(new StandardWebhook(SECRET).verify(text, plain));
    assert.doesNotThrow(() => new SvixWebhook(SECRET).verify(text, plain));
    assert.throws(() => new StandardWebhook(OTHER).verify(text, plain));
    assert.throws(() => new SvixWebhook(SECRET).verify(`${text} `, plain));
    assert.deepEqual([headers["webhook-id"], headers["svix-id"]], [DELIVERY, DELIVERY]);
    assert.equal(headers["content-type"], "application/json");

    // During a rotation both secrets sign, and a receiver with either one accepts the message.
    const body = Buffer.from(text);
    const both = signedWebhookHeaders([SECRET, OTHER], "msg_1", Date.now(), body);
    for (const secret of [SECRET, OTHER]) {
      assert.ok(new StandardWebhook(secret).verify(text, both));
      assert.doesNotThrow(() => new SvixWebhook(secret).verify(text, both));
    }
    const vector = signedWebhookHeaders(
      ["whsec_cGFybGV5LXdlYmhvb2stdGVzdC1rZXkh"],
      "msg_01JD3W0000000000000000TEST",
      1_795_219_200_000,
      Buffer.from(`{"type":"function_call.completed","is_test":true}`),
    );
    assert.equal(vector["webhook-signature"], "v1,TNKZZGwdAxcz/R9wN8yY5gAt9omHzcyehud73ek78Jk=");
  });

  it("hold the very bytes whose digest is approved, and no way to decide but the signed one", async () => {
    const kwargs = {
      order: "A-1007",
      digits: 12345678901234567890n,
      hidden: "a\u202eb\u{e0041}",
      nested: { a: [1, 2.5] },
    };
    const text = `{"digits":12345678901234567890,"hidden":"a\u202eb\u{e0041}","nested":{"a":[1,2.5]},"order":"A-1007"}`;
    const form = { kind: "approval", fn: "issue_refund", kwargs: text, rejectOptions: [], editable: false } as const;
    const digest = sha256Digest(`{"fn":"issue_refund","kwargs":${text}}`);
    await channel.send(await notice({ form, digest }), NEVER);
    const sent = receiver.arrived[0]?.text ?? "";
    assert.ok(sent.includes(`"fn":"issue_refund","kwargs":${text},"consent_digest":"${digest}"`), sent);
    const { request, ...event } = JSON.parse(sent) as { request: Record<string, unknown> };
    const ask = (await notice()).view;
    assert.deepEqual(event, {
      type: "ask.delivered",
      delivery: DELIVERY,
      link: String((event as Record<string, unknown>)["link"]),
      reply_to: "/hooks/webhook/desk",
    });
    assert.match(String((event as Record<string, unknown>)["link"]), /^https:\/\/parley\.example\.com\/inbox\/ask_/);
    assert.deepEqual(Object.keys(request), [
      "agent",
      "run",
      "kind",
      "title",
      "fn",
      "kwargs",
      "consent_digest",
      "msg",
      "options",
      "expires_at",
    ]);
    assert.deepEqual([request["agent"], request["msg"]], [ask.agent, ask.words]);
    assert.doesNotMatch(sent, /canary-token|7KQ2/);
    assert.equal(kwargs.digits.toString(), "12345678901234567890");
  });

  it("say that an ask is over", async () => {
    const { view } = await notice();
    const sent = { externalIds: { delivery: DELIVERY } };
    await channel.close?.(target(), sent, { says: "Approved by Ana Ruiz.", at: Date.UTC(2026, 0, 2), view }, NEVER);
    const [{ headers, text } = assert.fail()] = receiver.arrived;
    assert.equal(headers["webhook-id"], `${DELIVERY}.closed`);
    assert.deepEqual(JSON.parse(text), {
      type: "ask.closed",
      delivery: DELIVERY,
      ask_id: view.requestId,
      outcome: "Approved by Ana Ruiz.",
      at: "2026-01-02T00:00:00.000Z",
    });
  });

  it("are tried again while the program is away or busy, and not where it says no", async () => {
    const failure = async (of: Channel<WebhookTarget>): Promise<[boolean, string | undefined, number | undefined]> => {
      try {
        await of.send(await notice(), NEVER);
      } catch (error) {
        assert.ok(error instanceof DeliveryError);
        assert.doesNotMatch(error.message, /canary|127\.0\.0\.1|whsec/);
        return [error.retry, error.providerCode, error.retryAfterMs];
      }
      return assert.fail("it was taken");
    };
    for (const [status, retry] of [
      [301, false],
      [400, false],
      [401, false],
      [404, false],
      [410, false],
      [408, true],
      [429, true],
      [500, true],
      [503, true],
    ] as const) {
      receiver.replies.push({ status, headers: { location: `${receiver.origin}/elsewhere` } });
      assert.deepEqual(await failure(channel), [retry, String(status), undefined]);
    }
    receiver.replies.push({ status: 503, headers: { "retry-after": "17" } });
    assert.deepEqual(await failure(channel), [true, "503", 17_000]);
    const before = receiver.arrived.length;
    const nowhere = open({ desk: { url: "http://127.0.0.1:1/", secret: SECRET, humans: [] } });
    assert.deepEqual(await failure(nowhere), [true, undefined, undefined]);
    const strict = open(
      { desk: { url: `${receiver.origin}/desk`, secret: SECRET, humans: [] } },
      { allow: [], loopbackOnly: false },
    );
    assert.deepEqual(await failure(strict), [false, "address_refused", undefined]);
    assert.equal(receiver.arrived.length, before, "nothing was dialled, and no redirect followed");
  });

  it("go to targets that are configured, and agents give no address", () => {
    people.push("person_1");
    assert.deepEqual(channel.parse({ name: "desk" }), { target: { via: "webhook", to: "desk", people: ["person_1"] } });
    const refusal = (input: Record<string, unknown>) => {
      const parsed = channel.parse(input);
      return "errors" in parsed ? parsed.errors.map(({ path, code }) => `${path} ${code}`) : assert.fail();
    };
    assert.deepEqual(refusal({ name: "nobody" }), ["/webhook/name recipient_not_allowed"]);
    assert.deepEqual(refusal({ name: "constructor" }), ["/webhook/name recipient_not_allowed"]);
    assert.deepEqual(refusal({ name: 5 }), ["/webhook/name type"]);
    assert.deepEqual(refusal({}), ["/webhook/name required"]);
    assert.deepEqual(refusal({ name: "desk", url: "https://evil.example.com" }), ["/webhook/url unknown_field"]);
    const none = webhookChannel(
      {},
      { guardedFetch: openGuardedFetch(() => AT_HOME), now: () => 0, publicUrl: () => "" },
    );
    assert.equal(none, undefined);
  });

  /** Asks by a target, and lets the core send; returns what the program was sent. */
  async function delivered(
    more: Parameters<typeof newCallRequest>[0] = {},
  ): Promise<{ requestId: string; delivery: string; digest: string }> {
    const { ctx } = here().server;
    const { id } = await askPeople(ctx, { ...more, audience: leaf(target()) });
    await advanceUntil(here(), 500, async () => (await listDeliveries(ctx.db, id))[0]?.state === "sent");
    const asked =
      receiver.arrived.findLast(({ text }) => text.includes(`/inbox/${id}"`)) ?? assert.fail("nothing arrived");
    const event = JSON.parse(asked.text) as { delivery: string; request: { consent_digest: string } };
    return { requestId: id, delivery: event.delivery, digest: event.request.consent_digest };
  }
  let messages = 0;
  const saidBy = (delivery: string, id: string, said: object) => sendBack({ delivery, responder: { id }, ...said });
  async function callback(
    body: unknown,
    more: Parameters<typeof sendBack>[1] = {},
  ): Promise<[status: number, code: string | undefined]> {
    const reply = await sendBack(body, more);
    return [reply.status, reply.body.error?.code ?? reply.body.status];
  }
  async function sendBack(
    body: unknown,
    { name = "desk", secret = SECRET, id = `msg_${(messages += 1)}`, at = Date.now() } = {},
  ): Promise<Reply> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at / 1000)),
      "webhook-signature": new StandardWebhook(secret).sign(id, new Date(at), text),
    };
    const reply = await here().call("POST", `/hooks/webhook/${name}`, { headers, body: text });
    if (reply.body.error) assert.equal(reply.body.detail, reply.body.error.message);
    return reply;
  }
  async function ana(): Promise<string> {
    const person = await enrol(here().server.ctx, "Ana Ruiz");
    people.push(person);
    return String((await findHuman(here().server.ctx.db, person))?.number);
  }
  const outcomeOf = async (requestId: string) => (await findRequest(here().server.ctx.db, requestId))?.request.outcome;

  it("bring back an approval that names a listed human and the digest, once", async () => {
    const id = await ana();
    const { requestId, delivery, digest } = await delivered();
    const approve = { delivery, responder: { id }, approved: true, comment: "fine", consent_digest: digest };

    assert.deepEqual(await callback({ ...approve, consent_digest: undefined }), [422, "validation_failed"]);
    assert.deepEqual(await callback({ ...approve, consent_digest: `sha256:${"0".repeat(64)}` }), [
      409,
      "digest_mismatch",
    ]);
    assert.deepEqual(await callback({ ...approve, responder: { id: "999" } }), [403, "responder_not_allowed"]);
    assert.equal(await outcomeOf(requestId), null);

    assert.deepEqual(await callback(approve, { id: "msg_once" }), [200, "accepted"]);
    assert.deepEqual(await callback(approve, { id: "msg_once" }), [200, "accepted"]);
    const outcome = await outcomeOf(requestId);
    assert.deepEqual([outcome?.approved, outcome?.by?.via, outcome?.by?.id], [true, "webhook", people[0]]);
    const late = { delivery, responder: { id }, approved: false, comment: "no" };
    assert.deepEqual(await callback(late), [409, "already_responded"]);
    assert.equal((await outcomeOf(requestId))?.approved, true);
  });

  it("bring back rejections, options and words", async () => {
    const id = await ana();
    const rejected = await delivered();
    await callback({ delivery: rejected.delivery, responder: { id }, approved: false, comment: "wrong account" });
    const rejection = await outcomeOf(rejected.requestId);
    assert.deepEqual([rejection?.approved, rejection?.comment], [false, "wrong account"]);

    const options = [
      { name: "eu", title: "Europe", interactive: false },
      { name: "us", title: "America", interactive: false },
    ];
    const reply = { form: { kind: "reply", options }, digest: null } as const;
    const chosen = await delivered(reply);
    const choose = (response_option_name: string) =>
      callback({ delivery: chosen.delivery, responder: { id }, response_option_name });
    assert.deepEqual(await choose("asia"), [422, "unknown_option"]);
    assert.equal((await findRequest(here().server.ctx.db, chosen.requestId))?.request.refused?.input, "asia");
    assert.deepEqual(await choose("us"), [200, "accepted"]);
    assert.equal((await outcomeOf(chosen.requestId))?.option, "us");

    const answered = await delivered(reply);
    await callback({ delivery: answered.delivery, responder: { id }, response: "Neither, ask Bo." });
    assert.equal((await outcomeOf(answered.requestId))?.text, "Neither, ask Bo.");
  });

  it("name an option that was offered, and none beside an approval, or hear which there are", async () => {
    const id = await ana();
    const rejectOptions = [
      { name: "wrong_account", title: "Wrong account", interactive: false },
      { name: "later", interactive: false },
    ];
    const { form } = newCallRequest();
    const { requestId, delivery, digest } = await delivered({ form: { ...form, rejectOptions } as typeof form });
    const error = {
      code: "unknown_option",
      message: "This option was not offered.",
      options: ["wrong_account", "later"],
    };
    for (const answer of [
      { approved: false, reject_option_name: "never" },
      { approved: true, reject_option_name: "later", consent_digest: digest },
    ]) {
      const { status, body } = await saidBy(delivery, id, answer);
      assert.deepEqual([status, body], [422, { error, detail: error.message }]);
    }
    const { request: { refused } = assert.fail() } = (await findRequest(here().server.ctx.db, requestId)) ?? {};
    assert.deepEqual([refused?.reason, refused?.input, refused?.attempts], ["unknown_option", "later", 2]);
    assert.equal(await outcomeOf(requestId), null);

    // The agent sees nothing of an answer by a person for whom the target may not speak.
    const bo = await enrol(here().server.ctx, "Bo Lind");
    const number = String((await findHuman(here().server.ctx.db, bo))?.number);
    const stranger = await saidBy(delivery, number, { approved: false, reject_option_name: "secret words" });
    assert.equal(stranger.body.error.code, "responder_not_allowed");
    const after = (await findRequest(here().server.ctx.db, requestId))?.request.refused;
    assert.deepEqual([after?.reason, after?.input], ["responder_not_allowed", undefined]);

    const rejected = await saidBy(delivery, id, { approved: false, reject_option_name: "later" });
    assert.equal(rejected.status, 200);
    assert.deepEqual([(await outcomeOf(requestId))?.approved, (await outcomeOf(requestId))?.option], [false, "later"]);
  });

  it("believe nothing that is unsigned, stale, of the future, or signed by another target", async () => {
    const id = await ana();
    const { requestId, delivery, digest } = await delivered();
    const approve = { delivery, responder: { id }, approved: true, consent_digest: digest };
    assert.deepEqual(await callback(approve, { secret: OTHER }), [401, "unauthorized"]);
    assert.deepEqual(await callback(approve, { at: Date.now() - 301_000 }), [401, "unauthorized"]);
    assert.deepEqual(await callback(approve, { at: Date.now() + 330_000 }), [401, "unauthorized"]);
    assert.deepEqual(await callback(approve, { name: "nobody" }), [404, "not_found"]);
    const bare = await here().call("POST", "/hooks/webhook/desk", { body: approve });
    assert.equal(bare.status, 401);
    // Signed well, but by a target that was not the one asked.
    assert.deepEqual(await callback(approve, { name: "other", secret: OTHER }), [403, "responder_not_allowed"]);
    assert.equal(await outcomeOf(requestId), null);
  });

  it("are refused in one sentence when they make no sense", async () => {
    const responder = { id: "1" };
    for (const wrong of [
      "not json",
      [],
      {},
      { delivery: DELIVERY },
      { delivery: 5, responder, approved: false },
      { delivery: DELIVERY, responder: {}, approved: false },
      { delivery: DELIVERY, responder, approved: "yes" },
      { delivery: DELIVERY, responder, approved: true, consent_digest: 5 },
      { delivery: DELIVERY, responder, approved: false, comment: 5 },
      { delivery: DELIVERY, responder },
      { delivery: DELIVERY, responder, approved: false, many: Array.from({ length: 10_000 }, () => 0) },
    ]) {
      assert.deepEqual(await callback(wrong), [422, "validation_failed"], JSON.stringify(wrong).slice(0, 200));
    }
    assert.deepEqual(await callback({ delivery: DELIVERY, responder, approved: false }), [404, "not_found"]);
  });

  it("have no way in without a target", async () => {
    await using bare = await openWorld({ on: "sqlite" });
    const reply: HookReply = await bare.call("POST", "/hooks/webhook/desk", { body: {} });
    assert.equal(reply.status, 404);
  });
});
