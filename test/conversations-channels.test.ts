import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTransport } from "nodemailer";
import twilio from "twilio";
import { accepted, callBody, contactBody } from "./a2h.ts";
import { openSink, replyMail } from "./channels/mail.ts";
import { APP_TOKEN, openSlackDouble, TEAM, type SlackDouble } from "./channels/slack-double.ts";
import { aPress, aReply, BOT_TOKEN, bodyFor, SECRET, signedHeaders } from "./channels/slack-scene.ts";
import { openTwilioDouble } from "./channels/twilio-double.ts";
import { freePort, openTalking, seen, type Talking } from "./conversations.ts";
import { DATABASES, type DatabaseName, type Reply } from "./world.ts";

type Body = Reply["body"];

const statusOf = async (scene: Talking, { call_id: id }: { call_id: string }): Promise<Body> =>
  accepted(await scene.agent.get(`/human_contacts/${id}`)).status;

/** Asks in a conversation, and returns the request. */
async function ask(scene: Talking, channelId: string, msg: string) {
  const body = contactBody({ msg, channel: { channel_id: channelId } });
  accepted(await scene.agent.post("/human_contacts", body));
  return body;
}

interface OnSlack extends Talking {
  slack: SlackDouble;
  tell(payload: { type: string }): Promise<number>;
  /** What a person alone was told last. */
  told(count: number): Promise<string>;
  /** The newest of so many posted messages. */
  posted(count: number): Promise<Readonly<Record<string, string>>>;
}

async function openOnSlack(on: DatabaseName, more = ""): Promise<OnSlack> {
  const slack = await openSlackDouble();
  const settings = `
slack: { bot_token: ${BOT_TOKEN}, signing_secret: ${SECRET}, api_url: "${slack.url}"${more} }
a2h: { entry_points: { support: { agent: support, slack: true } } }
`;
  const scene = await openTalking(on, settings);
  await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
  return {
    ...scene,
    slack,
    async tell(payload) {
      const path = payload.type === "event_callback" ? "/hooks/slack/events" : "/hooks/slack/interactions";
      const body = bodyFor(path, payload);
      const type = path.endsWith("events") ? "application/json" : "application/x-www-form-urlencoded";
      const headers = { "content-type": type, ...signedHeaders(body, SECRET, Date.now()) };
      return (await scene.world.call("POST", path, { headers, body })).status;
    },
    async told(count) {
      const notes = await seen(
        () => slack.of("chat.postEphemeral"),
        (calls) => calls.length >= count,
      );
      return notes.at(-1)?.form["text"] ?? "";
    },
    async posted(count) {
      const posts = await seen(
        () => slack.of("chat.postMessage"),
        (calls) => calls.length >= count,
      );
      return posts.at(-1)?.form ?? {};
    },
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await slack[Symbol.asyncDispose]();
      assert.deepEqual(slack.faults, []);
    },
  };
}

const mention = (text: string, more: Readonly<Record<string, unknown>> = {}) =>
  aReply(`<@U0PARLEY> ${text}`, { type: "app_mention", thread_ts: undefined, ...more });
const direct = (text: string, more: Readonly<Record<string, unknown>> = {}) =>
  aReply(text, { thread_ts: undefined, channel_type: "im", channel: "D0ANA", ...more });

for (const on of DATABASES) {
  describe(`a conversation begun on Slack, on ${on}`, { timeout: 60_000 }, () => {
    it("by a mention goes on in its thread: answers, more words, and a question which one is meant", async () => {
      await using scene = await openOnSlack(on);
      const root = "1763700000.000001";
      const begun = mention("the export failed", { ts: root });
      for (let i = 0; i < 2; i += 1) assert.equal(await scene.tell(begun), 200);
      const [first, ...others] = await scene.said(1);
      assert.deepEqual([first.spec.message, others], ["the export failed", []]);
      const content = "<@U0PARLEY> the export failed";
      const said = { from_user_id: "U0ANA", channel_id: "C024BE91L", content };
      assert.deepEqual(first.spec.raw, {
        ...{ thread_ts: root, channel_id: "C024BE91L", team_id: TEAM },
        events: [{ ...said, message_id: root, message_ts: root }],
        follow_up: false,
      });
      assert.equal(await scene.told(1), "Passed on to the agent support.");

      const id = first.spec.channel_id;
      const contact = await ask(scene, id, "Which export?");
      const post = await scene.posted(1);
      assert.deepEqual([post["channel"], post["thread_ts"]], ["C024BE91L", root]);
      await seen(
        () => statusOf(scene, contact),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      assert.equal(await scene.tell(aReply("the nightly one", { thread_ts: root, user: "U0BO" })), 200);
      assert.equal(await scene.tell(aReply("the nightly one", { thread_ts: root })), 200);
      const { response, user_info: user, slack_context: context } = await statusOf(scene, contact);
      assert.deepEqual([response, user.name, user.via], ["the nightly one", "Ana Ruiz", "slack"]);
      const place = { team_id: context.team_id, channel_id: "C024BE91L", user_id: "U0ANA" };
      assert.deepEqual(context, { ...place, message_ts: context.message_ts, thread_ts: root });

      assert.equal(await scene.tell(aReply("thanks", { thread_ts: root })), 200);
      const [, second] = await scene.said(2);
      assert.deepEqual([second.spec.message, second.spec.channel_id, second.spec.raw.follow_up], ["thanks", id, true]);

      const both = [await ask(scene, id, "Which day?"), await ask(scene, id, "Which place?")] as const;
      await scene.posted(3);
      for (const one of both)
        await seen(
          () => statusOf(scene, one),
          ({ deliveries }) => deliveries[0].state === "sent",
        );
      const notes = scene.slack.of("chat.postEphemeral").length;
      await scene.tell(aReply("Tuesday", { thread_ts: root }));
      const list = await scene.told(notes + 1);
      const code = /^([0-9A-Z]{4}): Which day\?$/m.exec(list)?.[1] ?? assert.fail(list);
      assert.equal((await statusOf(scene, both[0])).response, undefined);
      await scene.tell(aReply(`${code} Tuesday`, { thread_ts: root }));
      assert.equal((await statusOf(scene, both[0])).response, "Tuesday");
      assert.equal((await scene.said(2)).length, 2);
    });

    it("in a direct message is one for all that is said there", async () => {
      await using scene = await openOnSlack(on);
      await scene.tell(direct("hello"));
      await scene.tell(direct("anybody?"));
      const [first, second] = await scene.said(2);
      assert.deepEqual([first.spec.channel_id, second.spec.raw.follow_up], [second.spec.channel_id, true]);
      const contact = await ask(scene, first.spec.channel_id, "Yes: what is it?");
      const post = await scene.posted(1);
      assert.deepEqual([post["channel"], post["thread_ts"]], ["D0ANA", undefined]);
      await seen(
        () => statusOf(scene, contact),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      await scene.tell(direct("my order"));
      assert.equal((await statusOf(scene, contact)).response, "my order");
      await scene.tell(direct("it is late", { thread_ts: post["ts"] ?? "1763700001.000001" }));
      assert.equal((await scene.said(3)).at(-1)?.spec.channel_id, first.spec.channel_id);
    });
  });
}

describe("a conversation begun on Slack", { timeout: 60_000 }, () => {
  it("lets its person decide calls by the button alone, and nobody who is not enrolled begin one", async () => {
    await using scene = await openOnSlack("sqlite");
    const root = "1763700000.000002";
    await scene.tell(mention("refund A-1007, please", { ts: root }));
    const [{ spec }] = await scene.said(1);
    const call = callBody({ channel: { channel_id: spec.channel_id } });
    accepted(await scene.agent.post("/function_calls", call));
    const status = async () => accepted(await scene.agent.get(`/function_calls/${call.call_id}`)).status;
    await seen(status, ({ deliveries }) => deliveries[0].state === "sent");
    await scene.tell(aReply("ok", { thread_ts: root }));
    assert.match(await scene.told(2), /press the button/);
    assert.equal((await status()).approved, undefined);
    const metadata = scene.slack.of("chat.postMessage").at(-1)?.json("metadata") as Body;
    await scene.tell(aPress("parley:approve", { value: metadata.event_payload.delivery }));
    const decided = await seen(status, ({ approved }) => approved !== undefined);
    assert.deepEqual([decided.approved, decided.user_info.name], [true, "Ana Ruiz"]);

    await scene.tell(mention("me too", { user: "U0BO" }));
    assert.match(await scene.told(4), /^Only people who are enrolled/);
    await scene.tell(mention("me too", { user: "U0GUEST" }));
    assert.equal((await scene.said(1)).length, 1);
  });

  it("by a mention in somebody's thread is told twice by Slack, and kept once", async () => {
    await using scene = await openOnSlack("sqlite");
    const where = { thread_ts: "1763700000.000003", ts: "1763700009.000001" };
    const events = [mention("can you help?", where), aReply("<@U0PARLEY> can you help?", where)];
    for (const event of [...events, ...events.toReversed()]) assert.equal(await scene.tell(event), 200);
    const [first, ...others] = await scene.said(1);
    assert.deepEqual([first.spec.message, others.length], ["can you help?", 0]);
    const later = { ...where, ts: "1763700009.000002" };
    for (const event of [aReply("<@U0PARLEY> and now?", later), mention("and now?", later)]) await scene.tell(event);
    const said = await scene.said(2);
    assert.deepEqual([said.length, said[1]?.spec.channel_id], [2, first.spec.channel_id]);
  });

  it("comes by Socket Mode too, and is acknowledged once it is kept", async () => {
    await using scene = await openOnSlack("sqlite", `, app_token: ${APP_TOKEN}`);
    const socket = await scene.slack.nextSocket();
    await socket.send({ envelope_id: "env-talk", type: "events_api", payload: mention("by socket") });
    const { items } = accepted(await scene.agent.get("/conversations"));
    assert.deepEqual(
      items.map((one: Body) => one.spec.message),
      ["by socket"],
    );
  });
});

const ANA = "ana@people.example";
const DOMAIN = "parley.example";
const SUPPORT = `support@${DOMAIN}`;
const VOUCHED = { "Authentication-Results": "mx.parley.example; dmarc=pass header.from=people.example" };

async function openByMail(on: DatabaseName, from = "enrolled") {
  const sink = await openSink();
  const port = await freePort();
  const settings = `
email:
  { smtp_url: "${sink.url}", from: "Parley <parley@${DOMAIN}>", listen: "127.0.0.1:${port}",
    trusted_authserv_ids: [mx.parley.example] }
a2h: { entry_points: { support: { agent: support, email: Support@${DOMAIN}, from: ${from} } } }
`;
  const scene = await openTalking(on, settings);
  await scene.enroll("Ana Ruiz", { email: { address: ANA } });
  const send = (raw: string, to = SUPPORT, author = ANA) =>
    createTransport({ host: "127.0.0.1", port, ignoreTLS: true }).sendMail({
      envelope: { from: author, to: [to] },
      raw,
    });
  return {
    ...scene,
    sink,
    send,
    /** A fresh mail to the agent. */
    mail: (text: string, headers: Record<string, string | null> = {}) =>
      replyMail(text, { To: `Support <${SUPPORT}>`, Subject: "Order 7", "In-Reply-To": null, ...VOUCHED, ...headers }),
    arrived: async (count: number) =>
      (
        await seen(
          () => sink.taken,
          (taken) => taken.length >= count,
        )
      ).at(-1)?.mail ?? assert.fail("no mail"),
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
    },
  };
}

for (const on of DATABASES) {
  describe(`a conversation begun by mail, on ${on}`, { timeout: 60_000 }, () => {
    it("goes on in its thread, whichever address is answered", async () => {
      await using scene = await openByMail(on);
      const mine = { "Message-ID": "<one@people.example>" };
      const first = scene.mail("Where is it?\n\n-- \nAna", mine);
      for (let i = 0; i < 2; i += 1) await scene.send(first);
      const [begun, ...others] = await scene.said(1);
      assert.deepEqual([begun.spec.message, others], ["Order 7\n\nWhere is it?", []]);
      const { raw_email: rawMail, body, ...raw } = begun.spec.raw;
      const about = { from_address: ANA, to_address: SUPPORT, subject: "Order 7" };
      assert.deepEqual(raw, { ...about, message_id: "<one@people.example>", follow_up: false });
      assert.match(body, /^Where is it\?\s+-- \s+Ana/);
      assert.equal(rawMail.trimEnd(), first.trimEnd());

      const id = begun.spec.channel_id;
      const contact = await ask(scene, id, "Which address?");
      const sent = await scene.arrived(1);
      const { inReplyTo, subject, messageId = "", replyTo } = sent;
      assert.deepEqual([inReplyTo, subject], ["<one@people.example>", "Re: Order 7"]);
      const token = replyTo?.[0]?.address ?? assert.fail("nowhere to reply to");
      await seen(
        () => statusOf(scene, contact),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      const reply = (text: string, more: Record<string, string | null> = {}) =>
        replyMail(text, { To: token, "In-Reply-To": messageId, ...more });
      // A reply address is proof enough for an answer, and for more words by whom it was made for.
      await scene.send(reply("12 Elm Street"), token);
      assert.equal((await statusOf(scene, contact)).response, "12 Elm Street");
      await scene.send(reply("The green house"), token);
      const [, second] = await scene.said(2);
      assert.deepEqual([second.spec.message, second.spec.channel_id], ["The green house", id]);
      assert.equal(second.spec.raw.follow_up, true);
      await scene.send(reply("me too", { From: "eve@people.example" }), token);

      const again = await ask(scene, id, "Which floor?");
      await scene.arrived(2);
      await seen(
        () => statusOf(scene, again),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      const own = { "In-Reply-To": "<one@people.example>", "Message-ID": "<two@people.example>" };
      await scene.send(scene.mail("third", { ...own, "Authentication-Results": null }));
      assert.equal((await statusOf(scene, again)).response, undefined, "nobody proves who wrote this");
      await scene.send(scene.mail("third", { ...own, "Message-ID": "<three@people.example>" }));
      assert.equal((await statusOf(scene, again)).response, "third");
      await scene.send(scene.mail("Another matter", { Subject: "Order 8" }));
      const said = await scene.said(3);
      assert.deepEqual([said.length, said[2]?.spec.raw.follow_up], [3, false]);
      assert.notEqual(said[2]?.spec.channel_id, id);
    });
  });
}

describe("a conversation begun by mail", { timeout: 60_000 }, () => {
  it("is begun by nobody whose address is not proved, or not enrolled, or who did not write to the agent", async () => {
    await using scene = await openByMail("sqlite");
    const forged: Record<string, string | null>[] = [
      { "Authentication-Results": null },
      { "Authentication-Results": "mx.elsewhere.example; dmarc=pass header.from=people.example" },
      { From: "eve@people.example" },
      { "Auto-Submitted": "auto-replied" },
      { Precedence: "list" },
      { To: "somebody@else.example" },
    ];
    for (const headers of forged) await scene.send(scene.mail("hello", headers));
    await assert.rejects(scene.send(scene.mail("hello"), "other@parley.example"), /550/);
    await scene.send(scene.mail("a good one"));
    const said = await scene.said(1);
    assert.deepEqual(
      said.map(({ spec }) => spec.message),
      ["Order 7\n\na good one"],
    );
  });

  it("may be begun by anybody where the entry point says so, who then is nobody in particular", async () => {
    await using scene = await openByMail("sqlite", "anyone");
    const eve = { From: "eve@people.example", "Authentication-Results": null };
    await scene.send(scene.mail("hello", eve), SUPPORT, "eve@people.example");
    const [{ spec }] = await scene.said(1);
    const contact = await ask(scene, spec.channel_id, "Yes?");
    const sent = await scene.arrived(1);
    const token = sent.replyTo?.[0]?.address ?? assert.fail("nowhere to reply to");
    await seen(
      () => statusOf(scene, contact),
      ({ deliveries }) => deliveries[0].state === "sent",
    );
    await scene.send(replyMail("It is late", { From: "eve@people.example", To: token }), token);
    const { response, user_info: user } = await statusOf(scene, contact);
    assert.deepEqual([response, user.id, user.via], ["It is late", undefined, "email"]);
  });
});

const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
const TOKEN = "canary-token-0123456789abcdef";
const PUBLIC_URL = "https://parley.example.com";
const OURS = "+4930901820";
const PHONE = "+491701234567";
let sids = 0;

for (const on of DATABASES) {
  describe(`a conversation begun by text message, on ${on}`, { timeout: 60_000 }, () => {
    it("is one for each number, by SMS and by WhatsApp, and answers what waits", async () => {
      await using double = await openTwilioDouble();
      const settings = `
public_url: ${PUBLIC_URL}
twilio:
  { account_sid: ${ACCOUNT}, auth_token: ${TOKEN}, sms_from: "${OURS}", whatsapp_from: "${OURS}", countries: ["+49"],
    api_url: "${double.origin}" }
a2h: { entry_points: { support: { agent: support, sms: true }, chat: { agent: support, whatsapp: true } } }
`;
      await using scene = await openTalking(on, settings);
      await scene.enroll("Ana Ruiz", { sms: { phoneNumber: PHONE } });
      const say = async (Body: string, more: Record<string, string> = {}, token = TOKEN) => {
        sids += 1;
        const MessageSid = `SM${String(sids).padStart(32, "e")}`;
        const fields = { MessageSid, AccountSid: ACCOUNT, From: PHONE, To: OURS, Body, ...more };
        const signature = twilio.getExpectedTwilioSignature(token, `${PUBLIC_URL}/hooks/twilio/message`, fields);
        const headers = {
          ...{ "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature },
        };
        const body = new URLSearchParams(fields).toString();
        return (await scene.world.call("POST", "/hooks/twilio/message", { headers, body })).status;
      };
      const sid = { MessageSid: `SM${"d".repeat(32)}` };
      assert.equal(await say("hello", {}, "wrong"), 401);
      for (let i = 0; i < 3; i += 1) assert.equal(await say("Where is order 7?", sid), 200);
      await say("It is urgent");
      const [first, second, ...none] = await scene.said(2);
      assert.deepEqual([first.spec.message, first.spec.raw, none], ["Where is order 7?", { follow_up: false }, []]);
      assert.deepEqual([second.spec.channel_id, second.spec.raw.follow_up], [first.spec.channel_id, true]);

      const contact = await ask(scene, first.spec.channel_id, "Which address?");
      await seen(
        () => statusOf(scene, contact),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      assert.deepEqual([double.calls.length, double.calls[0]?.form["To"]], [1, PHONE]);
      await say("12 Elm Street");
      assert.equal((await statusOf(scene, contact)).response, "12 Elm Street");
      await say("Thank you");
      assert.equal((await scene.said(3)).at(-1)?.spec.channel_id, first.spec.channel_id);

      await say("stop");
      await say("start");
      await say("hello", { From: "+491709999999" });
      await say("hello", { From: "+15550100999" });
      await say("By WhatsApp", { From: `whatsapp:${PHONE}`, To: `whatsapp:${OURS}` });
      const said = await scene.said(4);
      assert.deepEqual([said.length, said[3]?.spec.message], [4, "By WhatsApp"]);
      assert.notEqual(said[3]?.spec.channel_id, first.spec.channel_id);
      const id = Number(said[3]?.spec.channel_id);
      assert.equal(accepted(await scene.agent.get(`/contact_channel/${id}`)).channel_type, "whatsapp");
      assert.doesNotMatch(JSON.stringify(said), /\+49/);
    });
  });
}
