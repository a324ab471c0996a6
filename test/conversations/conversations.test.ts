import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Webhook } from "standardwebhooks";
import { sql } from "../../src/core/store/sql.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import type { InboundMessage, InboundResult } from "../../src/requests/model/inbound-message.ts";
import { accepted, callBody, contactBody, messageBody } from "../support/a2h.ts";
import { openAgentServer, openTalking, seen, type Talking } from "../support/conversations.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const SETTINGS = `
slack: { bot_token: xoxb-1, signing_secret: secret, api_url: "http://127.0.0.1:9/api/" }
a2h:
  entry_points:
    support: { agent: support, slack: true, inbox: true, about: Anything about orders, response_schema: { type: string } }
    public: { agent: support, slack: A0OPEN, from: anyone }
    desk: { agent: desk, inbox: true }
`;

let ids = 0;
/** Words in a Slack thread of their own, as the channel hands them over. */
function words(text: string, more: { thread?: string; user?: string; app?: string; id?: string } = {}): InboundMessage {
  const { thread = `C1/${(ids += 1)}.1`, user = "U0ANA", app = null, id = `say ${(ids += 1)}` } = more;
  const [channel = "", ts = ""] = thread.split("/");
  return {
    provider: "slack",
    id,
    at: 0,
    match: { thread },
    trust: "signed",
    content: { text },
    sender: { kind: "slack", id: user, team: "T1", member: true, channel },
    talk: {
      at: { channel: "slack", app },
      begins: true,
      goesOn: true,
      proved: true,
      threads: [`slack:${thread}`],
      thread: `slack:${thread}`,
      source: `slack ${id}`,
      target: { via: "slack", to: channel, allowed: [user], settings: { threadTs: ts } },
      raw: { thread_ts: ts, channel_id: channel, events: [] },
    },
  };
}

const say = (scene: Talking, message: InboundMessage): Promise<InboundResult> =>
  handleInbound(scene.world.server.ctx, "http://parley.test", message);

/** Somebody who is signed in, in the inbox. */
async function signedIn(scene: Talking, number: string) {
  const { ctx } = scene.world.server;
  const [row] = await ctx.db.all<{ person_id: string }>(sql`SELECT person_id FROM people WHERE number = ${number}`);
  const { code } = await createSignInLink(ctx, row?.person_id ?? assert.fail("nobody"));
  const from = { origin: scene.world.url, "sec-fetch-site": "same-origin" };
  const signIn = await scene.world.call("POST", "/session", { headers: from, body: { code } });
  const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? assert.fail(signIn.text);
  return (method: string, path: string, body?: unknown): Promise<Reply> =>
    scene.world.call(method, path, { headers: { ...from, cookie }, ...(body !== undefined && { body }) });
}

for (const on of DATABASES) {
  describe(`conversations that people begin, on ${on}`, () => {
    it("are listed for their agent until it takes them, oldest first, page by page", async () => {
      await using scene = await openTalking(on, SETTINGS);
      await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      assert.deepEqual(accepted(await scene.agent.get("/conversations")), { items: [], has_more: false });
      for (const text of ["first", "second", "third"]) assert.equal((await say(scene, words(text))).kind, "passed_on");

      const { items, has_more: more } = accepted(await scene.agent.get("/conversations?limit=2"));
      assert.deepEqual([items.map((one: Reply["body"]) => one.spec.message), more], [["first", "second"], true]);
      const [one, two] = items;
      assert.match(one.metadata.uid, /^nc_/);
      assert.deepEqual(one, {
        apiVersion: "proto.a2h.dev/v1alpha1",
        kind: "NewConversation",
        metadata: { uid: one.metadata.uid },
        spec: {
          message: "first",
          user_message: "first",
          channel_id: one.spec.channel_id,
          agent_name: "support",
          response_schema: { type: "string" },
          raw: { thread_ts: one.spec.raw.thread_ts, channel_id: "C1", events: [], follow_up: false },
        },
      });
      const rest = accepted(await scene.agent.get(`/conversations?after=${two.metadata.uid}`));
      assert.deepEqual([rest.items.length, rest.items[0].spec.message, rest.has_more], [1, "third", false]);
      assert.deepEqual(accepted(await scene.agent.get(`/conversations/${one.metadata.uid}`)), one);

      for (let i = 0; i < 2; i += 1) {
        const ack = await scene.agent.post(`/conversations/${one.metadata.uid}/ack`);
        assert.deepEqual([ack.status, ack.text], [204, ""]);
      }
      assert.equal(accepted(await scene.agent.get("/conversations")).items.length, 2);
      assert.equal(accepted(await scene.agent.get("/conversations?all=true")).items.length, 3);

      const id = Number(one.spec.channel_id);
      const place = { id, channel_type: "slack", agent_name: "support", status: "ready" };
      assert.deepEqual(accepted(await scene.agent.get(`/contact_channel/${id}`)), place);
      const other = await scene.holder({ name: "other", scope: "agent" });
      for (const path of [`/conversations/${one.metadata.uid}`, `/contact_channel/${id}`, "/contact_channel/999"]) {
        const reply = await other.get(path);
        const noun = path.startsWith("/conv") ? "conversation" : "channel";
        assert.deepEqual([reply.status, reply.body.error?.message], [404, `There is no such ${noun}.`]);
      }
      assert.equal((await other.post(`/conversations/${one.metadata.uid}/ack`)).status, 404);
      for (const query of ["limit=0", "limit=101", "wait=56", "all=maybe", "after=nc_none", `after=${"x".repeat(99)}`])
        assert.equal((await scene.agent.get(`/conversations?${query}`)).status, 422, query);
      assert.equal((await scene.admin.get("/conversations")).status, 403);
      const audit = accepted(await scene.admin.get("/audit?action=conversation.opened")).items;
      assert.deepEqual([audit.length, audit[0].actor.kind, audit[0].agent], [3, "human", "support"]);
      assert.deepEqual(audit[0].data.conversation, id);
    });

    it("are waited for, and told at once", async () => {
      await using scene = await openTalking(on, SETTINGS);
      await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      const waiting = scene.agent.get("/conversations?wait=50");
      await say(scene, words("anybody there?"));
      assert.deepEqual(
        accepted(await waiting).items.map((one: Reply["body"]) => one.spec.message),
        ["anybody there?"],
      );
    });

    it("are begun by people who are enrolled, or by anybody where the entry point says so", async () => {
      await using scene = await openTalking(on, SETTINGS);
      const stranger = await say(scene, words("hello", { user: "U0EVE" }));
      assert.deepEqual([stranger.kind, stranger.reason], ["not_allowed", undefined]);
      assert.equal((await say(scene, words("hello", { user: "U0EVE", app: "A0OPEN" }))).kind, "passed_on");
      assert.equal((await say(scene, words("hello", { user: "U0EVE", app: "A0NONE" }))).kind, "no_match");
      const guest = words("hello", { user: "U0GUEST", app: "A0OPEN" });
      assert.equal(
        (await say(scene, { ...guest, sender: { ...guest.sender, member: false } as never })).kind,
        "not_allowed",
      );
      const said = await scene.said(1);
      assert.deepEqual([said.length, said[0].spec.message], [1, "hello"]);
    });

    it("are stored once, however often and however much at once they are told", async () => {
      await using scene = await openTalking(on, SETTINGS);
      await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      const thread = "C1/77.1";
      const message = words("the export failed", { thread });
      const verdicts = await Promise.all(Array.from({ length: 8 }, () => say(scene, message)));
      assert.deepEqual(verdicts.map(({ kind }) => kind).sort(), [
        "passed_on",
        ...Array.from({ length: 7 }, () => "repeated"),
      ]);
      await Promise.all(Array.from({ length: 6 }, (_, i) => say(scene, words(`and ${i}`, { thread: "C1/78.1" }))));
      const said = await scene.said(7);
      const ofThread = said.filter(({ spec }) => spec.message.startsWith("and"));
      assert.equal(new Set(ofThread.map(({ spec }) => spec.channel_id)).size, 1, "one thread is one conversation");
      assert.deepEqual(ofThread.filter(({ spec }) => !spec.raw.follow_up).length, 1);
    });

    it("take a person's next words as the answer to what waits, else as one more word", async () => {
      await using scene = await openTalking(on, SETTINGS);
      await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      const person = await signedIn(scene, await scene.enroll("Bo Lind", { inbox: {} }));
      const { entry_points: points } = accepted(await person("GET", "/people/me/conversations"));
      assert.deepEqual(points, [
        { name: "support", agent: "support", about: "Anything about orders" },
        { name: "desk", agent: "desk", about: null },
      ]);
      const begin = { entry_point: "support", text: "Where is order 7?", id: "a1" };
      const begun = await person("POST", "/people/me/conversations", begin);
      assert.equal(begun.status, 201, begun.text);
      const { id } = begun.body;
      const again = await person("POST", "/people/me/conversations", begin);
      assert.deepEqual([again.status, again.body.id], [201, id]);
      const [first] = await scene.said(1);
      assert.deepEqual([first.spec.channel_id, first.spec.raw], [String(id), { follow_up: false }]);

      const path = `/people/me/conversations/${id}`;
      const more = (text: string, sent: string) => person("POST", `${path}/messages`, { text, id: sent });
      accepted(await more("It is urgent.", "a2"));
      accepted(await more("It is urgent.", "a2"));
      const [, second, ...none] = await scene.said(2);
      assert.deepEqual([second.spec.message, second.spec.raw.follow_up, none], ["It is urgent.", true, []]);
      assert.equal(second.spec.channel_id, String(id));
      assert.notEqual(second.metadata.uid, first.metadata.uid);

      const contact = contactBody({ msg: "Which address?", channel: { channel_id: id } });
      const asked = accepted(await scene.agent.post("/human_contacts", contact));
      assert.deepEqual([asked.spec.channel, asked.status.deliveries], [{ channel_id: id }, undefined]);
      accepted(await more("12 Elm Street", "a3"));
      accepted(await more("12 Elm Street", "a3"));
      const { status } = accepted(await scene.agent.get(`/human_contacts/${contact.call_id}`));
      assert.deepEqual(
        [status.response, status.user_info.name, status.user_info.via],
        ["12 Elm Street", "Bo Lind", "web"],
      );
      assert.equal(accepted(await scene.agent.get("/conversations?all=true")).items.length, 2);

      const message = accepted(
        await scene.agent.post("/messages", messageBody({ channel_id: id, response_schema: { type: "integer" } })),
      );
      assert.equal((await more("three", "a4")).status, 400);
      accepted(await more("3", "a5"));
      assert.equal(accepted(await scene.agent.get(`/messages/${message.metadata.uid}`)).status.response, 3);

      const call = callBody({ channel: { channel_id: String(id) } });
      accepted(await scene.agent.post("/function_calls", call));
      const refused = await more("yes", "a6");
      assert.deepEqual([refused.status, refused.body.error?.message.startsWith("Something waits")], [400, true]);
      accepted(await scene.agent.post(`/agent/function_calls/${call.call_id}/cancel`));
      const both = [contactBody({ channel: { channel_id: id } }), contactBody({ channel: { channel_id: id } })];
      for (const one of both) accepted(await scene.agent.post("/human_contacts", one));
      assert.equal((await more("which one?", "a7")).status, 400);

      const whole = accepted(await person("GET", path));
      assert.deepEqual(
        whole.messages.map((one: Reply["body"]) => one.text),
        ["Where is order 7?", "It is urgent."],
      );
      assert.deepEqual(
        whole.asks.map((one: Reply["body"]) => [one.kind, one.state]),
        [
          ["reply", "answered"],
          ["value", "answered"],
          ["approval", "cancelled"],
          ["reply", "open"],
          ["reply", "open"],
        ],
      );
      const other = await signedIn(scene, await scene.enroll("Cy Gray", { inbox: {} }));
      assert.equal((await other("GET", path)).status, 404);
      assert.equal((await other("POST", `${path}/messages`, { text: "hi", id: "x" })).status, 404);
      assert.equal(
        (await person("POST", "/people/me/conversations", { ...begin, entry_point: "public", id: "b" })).status,
        404,
      );
    });

    it("are told by webhook in each format, with a key that is good for one conversation and nothing else", async () => {
      await using scene = await openTalking(on, SETTINGS);
      await using agent = await openAgentServer();
      await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      const secrets = new Map<string, string>();
      for (const format of ["v1beta1", "v1beta2", "v1beta3", "a2h"]) {
        const made = accepted(await scene.agent.post("/webhook_endpoints", { url: `${agent.url}/${format}`, format }));
        secrets.set(format, made.secret);
      }
      const thread = "C1/90.1";
      await say(scene, words("Ship it?", { thread }));
      // v1beta1 knows mail alone.
      await seen(
        () => agent.told,
        (told) => told.length === 3,
      );
      const [{ spec, metadata }] = await scene.said(1);
      const id = Number(spec.channel_id);
      const told = (type: string) => agent.told.find(({ body }) => body.type === type) ?? assert.fail(type);
      const keyed = agent.told.find(({ body }) => body.channel_api_key) ?? assert.fail("no key came");
      const event = { user_message: "Ship it?", contact_channel_id: id, agent_name: "support", thread_id: String(id) };
      const { channel_api_key: key, ...rest } = keyed.body;
      assert.deepEqual(rest, { is_test: false, type: "conversation.created", event });
      assert.deepEqual(told("agent_slack.received").body.event.channel_id, "C1");
      assert.ok(agent.told.some(({ body }) => body.kind === "NewConversation" && body.metadata.uid === metadata.uid));
      new Webhook(secrets.get("v1beta3") ?? "").verify(keyed.text, keyed.headers as Record<string, string>);
      const stored = JSON.stringify(await scene.world.server.ctx.db.all(sql`SELECT * FROM webhook_events`));
      assert.doesNotMatch(stored, new RegExp(key));
      assert.doesNotMatch(
        JSON.stringify(await scene.world.server.ctx.db.all(sql`SELECT * FROM conversations`)),
        new RegExp(key),
      );

      const bound = scene.holderOf(key);
      const contact = contactBody();
      const asked = accepted(await bound.post("/human_contacts", contact));
      assert.deepEqual(
        asked.status.deliveries.map((one: Reply["body"]) => one.via),
        ["slack"],
      );
      const [delivery] = await scene.world.server.ctx.db.all<{ target: string }>(sql`SELECT target FROM deliveries`);
      const placed = { via: "slack", to: "C1", allowed: ["U0ANA"], settings: { threadTs: "90.1" } };
      assert.deepEqual(JSON.parse(delivery?.target ?? ""), placed);
      assert.equal((await bound.get(`/human_contacts/${contact.call_id}`)).status, 200);
      for (const channel of [
        { inbox: {} },
        { human: { id: "1" } },
        { channel_id: id + 1 },
        { slack: { channel_or_user_id: "U0ANA" } },
      ]) {
        const reply = await bound.post("/human_contacts", contactBody({ channel }));
        assert.deepEqual([reply.status, reply.body.error.code], [403, "insufficient_scope"], JSON.stringify(channel));
      }
      const step = { after_seconds: 5, escalation_msg: "Still?", channel: { inbox: {} } };
      assert.equal((await bound.post("/human_contacts", contactBody({ escalation: [step] }))).status, 403);
      assert.equal((await bound.post("/human_contacts", contactBody({ channel: { channel_id: id } }))).status, 200);
      const elsewhere = contactBody();
      accepted(await scene.agent.post("/human_contacts", elsewhere));
      assert.equal((await bound.get(`/human_contacts/${elsewhere.call_id}`)).status, 404);
      assert.equal(accepted(await bound.get("/agent/human_contacts/pending")).total, 2);
      assert.equal(accepted(await bound.get("/conversations")).items.length, 1);
      assert.equal((await bound.get("/webhook_endpoints")).status, 403);
      const crowd = { prompt: "Which?", type: "text" };
      const sent = { headers: { authorization: `Bearer ${key}` }, body: crowd };
      assert.equal((await scene.world.call("POST", "/agent/questions", sent)).status, 401);

      // Later words bring the same key; what is over tells where it was asked.
      accepted(await bound.post(`/agent/human_contacts/${contact.call_id}/cancel`));
      const over = await seen(
        () => agent.told.find(({ body }) => body.type === "human_contact.completed" && body.event.contact_channel_id),
        (found) => found !== undefined,
      );
      assert.deepEqual([over?.body.event.call_id, over?.body.event.contact_channel_id], [contact.call_id, id]);
      await say(scene, words("And now?", { thread }));
      const second = await seen(
        () => agent.told.filter(({ body }) => body.channel_api_key),
        (found) => found.length === 2,
      );
      assert.deepEqual([second[1]?.body.channel_api_key, second[1]?.body.event.user_message], [key, "And now?"]);
    });

    it("of people who are enrolled no longer go on without them", async () => {
      await using scene = await openTalking(on, SETTINGS);
      const ana = await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      await say(scene, words("hello", { thread: "C1/33.1" }));
      const [{ spec }] = await scene.said(1);
      const channel = { channel_id: spec.channel_id };
      const before = accepted(await scene.agent.post("/function_calls", callBody({ channel })));
      assert.equal(before.status.deliveries.length, 1);
      accepted(await scene.agent.post(`/agent/function_calls/${before.call_id}/cancel`));
      assert.equal((await scene.admin.call("DELETE", `/humans/${ana}`)).status, 204);
      const after = accepted(await scene.agent.post("/function_calls", callBody({ channel })));
      assert.equal(after.status.deliveries, undefined);
      assert.equal((await say(scene, words("more", { thread: "C1/33.1" }))).kind, "not_allowed");
    });

    it("are read at every mount, and by no key that is none of theirs", async () => {
      await using scene = await openTalking(on, SETTINGS);
      const headers = { authorization: `Bearer ${scene.agent.key}` };
      for (const mount of ["", "/a2h/v1alpha1", "/humanlayer/v1"]) {
        const reply = await scene.world.call("GET", `${mount}/conversations`, { headers });
        assert.deepEqual([reply.status, reply.body], [200, { items: [], has_more: false }]);
      }
      const wrong = await scene.world.call("PUT", "/conversations", { headers, body: {} });
      assert.deepEqual([wrong.status, wrong.headers.get("allow")], [405, "GET"]);
      const atRoot = await scene.world.call("GET", "/contact_channel/1", { headers });
      assert.match(atRoot.body.error?.hint ?? "", /humanlayer/);
    });

    it("of people who are not enrolled answer questions, and never decide calls", async () => {
      await using scene = await openTalking(on, SETTINGS);
      await say(scene, words("hello", { user: "U0EVE", app: "A0OPEN", thread: "C9/5.1" }));
      const [{ spec }] = await scene.said(1);
      const contact = accepted(
        await scene.agent.post("/human_contacts", contactBody({ channel: { channel_id: spec.channel_id } })),
      );
      assert.deepEqual(
        contact.status.deliveries.map((one: Reply["body"]) => one.via),
        ["slack"],
      );
      const call = accepted(
        await scene.agent.post("/function_calls", callBody({ channel: { channel_id: spec.channel_id } })),
      );
      assert.equal(call.status.deliveries, undefined);
      const other = await scene.holder({ name: "other", scope: "agent" });
      const reply = await other.post("/human_contacts", contactBody({ channel: { channel_id: spec.channel_id } }));
      assert.deepEqual([reply.status, reply.body.error.code], [422, "unknown_channel"]);
    });
  });
}
