import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accepted, callBody } from "../support/a2h.ts";
import { APP_TOKEN, openSlackDouble, TEAM, type SlackDouble } from "../channels/slack-double.ts";
import { aPress, aReply, BOT_TOKEN, bodyFor, SECRET, signedHeaders } from "../channels/slack-scene.ts";
import { ask, frozenIn, openTalking, seen, statusOf, type Talking } from "../support/conversations.ts";
import { ONE_DATABASE, type DatabaseName, type Reply } from "../support/world.ts";

type Body = Reply["body"];

interface OnSlack extends Talking {
  slack: SlackDouble;
  tell(payload: { type: string }): Promise<number>;
  /** Resolves with the last message that only one person saw. */
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

/** Somebody puts a file where words would be. */
const FILE = { subtype: "file_share", files: [{ id: "F0FORM" }] };

for (const on of ONE_DATABASE) {
  describe(`a conversation begun on Slack, on ${on}`, () => {
    it("takes no file without words, begun or not, and says so to its person alone", async () => {
      await using scene = await openOnSlack(on);
      const root = "1763700000.000001";
      await scene.tell(mention("", { ...FILE, ts: "1763600000.000001" }));
      assert.match(await scene.told(1), /^This was not passed on: the agent gets no files/);
      await scene.tell(mention("the export failed", { ts: root }));
      assert.equal(await scene.told(2), "Passed on to the agent support.");
      const alone = aReply("", { ...FILE, thread_ts: root });
      for (let i = 0; i < 2; i += 1) assert.equal(await scene.tell(alone), 200);
      assert.match(await scene.told(3), /^This was not passed on/);
      // Where nothing was begun, people talk among themselves.
      await scene.tell(aReply("", { ...FILE, thread_ts: "1763500000.000001" }));
      await scene.tell(direct("", FILE));
      assert.match(await scene.told(4), /^This was not passed on/);
      await scene.tell(aReply("and again", { thread_ts: root }));
      const said = await scene.said(2);
      assert.deepEqual(
        said.map(({ spec }) => spec.message),
        ["the export failed", "and again"],
      );
      const notes = scene.slack.of("chat.postEphemeral").map(({ form }) => form["text"] ?? "");
      assert.equal(notes.filter((text) => text.startsWith("This was not passed on")).length, 3);
    });

    it("by a mention goes on in its thread: answers, more words, and a question which one is meant", async () => {
      await using scene = await openOnSlack(on);
      const root = "1763700000.000001";
      const begun = mention("the export failed", { ts: root });
      for (let i = 0; i < 2; i += 1) assert.equal(await scene.tell(begun), 200);
      const [first, ...others] = await scene.said(1);
      assert.deepEqual([first.spec.message, others], ["the export failed", []]);
      const content = "<@U0PARLEY> the export failed";
      const message = { from_user_id: "U0ANA", channel_id: "C024BE91L", content };
      assert.deepEqual(first.spec.raw, {
        thread_ts: root,
        channel_id: "C024BE91L",
        team_id: TEAM,
        events: [{ ...message, message_id: root, message_ts: root }],
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
      const code = /^([0-9A-Z]{4}): “Which day\?”$/m.exec(list)?.[1] ?? assert.fail(list);
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

describe("a conversation begun on Slack", () => {
  it("is not answered in the thread of a question that is over, whatever else waits", async () => {
    await using scene = await openOnSlack("sqlite");
    await scene.tell(direct("hello"));
    const [{ spec }] = await scene.said(1);
    const asked: { call_id: string; ts: string }[] = [];
    for (const msg of ["Is the weather nice?", "May I send your salary to DE00?"]) {
      const body = await ask(scene, spec.channel_id, msg);
      const { slack_message_ts: ts } = await seen(
        () => statusOf(scene, body),
        ({ deliveries }) => deliveries[0].state === "sent",
      );
      asked.push({ ...body, ts });
    }
    const [over, waits] = asked;
    assert.ok(over && waits);
    accepted(await scene.agent.post(`/agent/human_contacts/${over.call_id}/cancel`));
    await scene.tell(direct("yes, it is lovely", { thread_ts: over.ts }));
    assert.equal((await scene.said(2))[1]?.spec.message, "yes, it is lovely");
    assert.equal((await statusOf(scene, waits)).response, undefined);
    await scene.tell(direct("no", { thread_ts: waits.ts }));
    assert.equal((await statusOf(scene, waits)).response, "no");
  });

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

  it("freezes by the word of an enrolled person, who alone sees what is frozen; a stranger's word does nothing", async () => {
    await using scene = await openOnSlack("sqlite");
    await scene.tell(direct("parley freeze", { user: "U0EVE", channel: "D0EVE" }));
    await scene.tell(mention("parley freeze", { user: "U0GUEST", ts: "1763700000.000004" }));
    assert.deepEqual(await frozenIn(scene), []);
    const before = scene.slack.of("chat.postEphemeral").length;
    await scene.tell(direct("Parley freeze"));
    assert.match(await scene.told(before + 1), /^Frozen: your agents\. /);
    const [first, ...others] = await frozenIn(scene);
    assert.match(first ?? "", /^person \d+ by slack$/);
    await scene.tell(mention("parley freeze all", { ts: "1763700000.000005" }));
    assert.match(await scene.told(before + 2), /^Frozen: your agents\. /);
    assert.deepEqual([others, await frozenIn(scene)], [[], [first]]);
    assert.deepEqual(accepted(await scene.agent.get("/conversations?all=true")).items, []);
  });
});
