import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openSlackDouble } from "../../channels/slack-double.ts";
import { aReply, BOT_TOKEN, bodyFor, OTHER_TOKEN, SECRET, signedHeaders } from "../../channels/slack-scene.ts";
import { accepted, callBody, contactBody } from "../../support/a2h.ts";
import { openTalking, seen, type Holder } from "../../support/conversations.ts";
import { DATABASES, type DatabaseName } from "../../support/world.ts";

const ROOM = "C024BE91L";

async function openOnSlack(on: DatabaseName) {
  const slack = await openSlackDouble();
  const scene = await openTalking(
    on,
    `
slack: { bot_token: ${BOT_TOKEN}, signing_secret: ${SECRET}, api_url: "${slack.url}" }
a2h:
  channels: { ops: { slack: { channel_or_user_id: ${ROOM}, thread_ts: "1763630000.000001" } } }
  entry_points: { support: { agent: support, slack: true } }
`,
  );
  return {
    ...scene,
    slack,
    other: await scene.holder({ name: "other", scope: "agent" }),
    /** Asks, and returns the timestamp of the message once it is noted. */
    async posted(by: Holder, channel: object): Promise<string> {
      const body = contactBody({ channel });
      accepted(await by.post("/human_contacts", body));
      const status = async () => accepted(await by.get(`/human_contacts/${body.call_id}`)).status;
      return (await seen(status, ({ slack_message_ts: ts }) => ts !== undefined)).slack_message_ts as string;
    },
    async says(payload: object) {
      const body = bodyFor("/hooks/slack/events", payload);
      const headers = { "content-type": "application/json", ...signedHeaders(body, SECRET, Date.now()) };
      assert.equal((await scene.world.call("POST", "/hooks/slack/events", { headers, body })).status, 200);
    },
    [Symbol.asyncDispose]: async () => {
      await scene[Symbol.asyncDispose]();
      await slack[Symbol.asyncDispose]();
    },
  };
}

const inThread = (to: string, ts: string, more: object = {}) => ({
  slack: { channel_or_user_id: to, thread_ts: ts, ...more },
});

async function assertRefused(by: Holder, kind: "function_calls" | "human_contacts", spec: object): Promise<void> {
  const body = kind === "function_calls" ? callBody({ ...spec }) : contactBody({ ...spec });
  const { status, text } = await by.post(`/${kind}`, body);
  assert.equal(status, 422, text);
  const { error } = JSON.parse(text) as { error: { code: string; message: string; id: string } };
  assert.deepEqual([error.code, typeof error.id], ["unknown_channel", "string"]);
  assert.match(error.message, /thread_ts is no thread that a request of yours began/);
}

for (const on of DATABASES) {
  describe(`a thread on Slack that an agent names, on ${on}`, () => {
    it("is one that a request of its own began, in that channel or with that person", async () => {
      await using scene = await openOnSlack(on);
      const { agent, other } = scene;
      const inRoom = await scene.posted(agent, { slack: { channel_or_user_id: ROOM } });
      const withAna = await scene.posted(agent, { slack: { channel_or_user_id: "U0ANA" } });
      const inside = await scene.posted(agent, inThread(ROOM, inRoom));
      assert.equal(scene.slack.of("chat.postMessage").at(-1)?.form["thread_ts"], inRoom);
      await scene.posted(agent, inThread("U0ANA", withAna));
      await scene.posted(agent, inThread("D0ANA", withAna));

      for (const kind of ["function_calls", "human_contacts"] as const) {
        // Another agent's, though it knows it, also by a token of its own, or behind others.
        await assertRefused(other, kind, { channel: inThread(ROOM, inRoom) });
        await assertRefused(other, kind, { channel: inThread("U0ANA", withAna) });
        await assertRefused(other, kind, { channel: inThread("D0ANA", withAna) });
        await assertRefused(other, kind, { channel: inThread(ROOM, inRoom, { bot_token: OTHER_TOKEN }) });
        const any_of = [{ inbox: {} }, inThread(ROOM, inRoom)];
        await assertRefused(other, kind, { channel: { any_of } });
        // The agent's own thread, but in another channel, or a message that begins no thread.
        await assertRefused(agent, kind, { channel: inThread("C0ELSEWHERE", inRoom) });
        await assertRefused(agent, kind, { channel: inThread("U0BO", withAna) });
        await assertRefused(agent, kind, { channel: inThread(ROOM, inside) });
        // People's, which no request began.
        await assertRefused(agent, kind, { channel: inThread(ROOM, "1763600000.000009") });
      }
      const escalation = [{ after_seconds: 60, channel: inThread(ROOM, inRoom), escalation_msg: "?" }];
      await assertRefused(other, "function_calls", { channel: { inbox: {} }, escalation });
      const { body } = await other.post("/channels/validate", inThread(ROOM, inRoom));
      assert.deepEqual([body.valid, body.errors?.[0]?.path], [false, "/slack/thread_ts"]);
    });

    it("is one in which a person spoke to it, or that the operator wrote down", async () => {
      await using scene = await openOnSlack(on);
      await scene.enroll("Ana Ruiz", { slack: { channelOrUserId: "U0ANA" } });
      const root = "1763700000.000001";
      await scene.says(aReply("<@U0PARLEY> help", { type: "app_mention", thread_ts: undefined, ts: root }));
      await scene.said(1);
      await scene.posted(scene.agent, inThread(ROOM, root));
      await assertRefused(scene.other, "human_contacts", { channel: inThread(ROOM, root) });
      await scene.posted(scene.other, { channel_id: "ops" });
      assert.equal(scene.slack.of("chat.postMessage").at(-1)?.form["thread_ts"], "1763630000.000001");
      // An agent that asks there by a name has not begun that thread.
      await assertRefused(scene.other, "human_contacts", { channel: inThread(ROOM, "1763630000.000001") });
    });
  });
}
