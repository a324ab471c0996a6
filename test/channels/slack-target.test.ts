import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BOT_TOKEN, openSlackScene } from "./slack-scene.ts";

const CHANNEL = "/slack/channel_or_user_id";

describe("a Slack target", () => {
  it("is a user or a channel by its ID, with what the message needs and nothing else", async () => {
    await using scene = await openSlackScene({ defaultUser: "U0BO" });
    const { parse } = scene.channel;
    assert.deepEqual(parse({ channel_or_user_id: "C024BE91L" }), {
      target: { via: "slack", to: "C024BE91L", settings: {} },
    });
    assert.deepEqual(
      parse({
        channel_or_user_id: "G0PRIVATE",
        context_about_channel_or_user: "the finance team",
        allowed_responder_ids: ["U2147483697", "W12"],
        thread_ts: "1763632800.000100",
        experimental_slack_blocks: false,
        bot_token: null,
      }),
      {
        target: {
          via: "slack",
          to: "G0PRIVATE",
          allowed: ["U2147483697", "W12"],
          settings: { threadTs: "1763632800.000100", plain: true },
        },
      },
    );
    assert.deepEqual(parse({ channel_or_user_id: "" }), { target: { via: "slack", to: "U0BO", settings: {} } });
  });

  it("never holds a token that came with the ask", async () => {
    await using scene = await openSlackScene();
    const parsed = scene.channel.parse({ channel_or_user_id: "U0ANA", bot_token: BOT_TOKEN });
    assert.deepEqual(parsed, { target: { via: "slack", to: "U0ANA", settings: {} } });
  });

  const WRONG: readonly [input: Record<string, unknown>, path: string, code: string, message?: RegExp][] = [
    [{}, CHANNEL, "required"],
    [{ channel_or_user_id: null }, CHANNEL, "required"],
    [{ channel_or_user_id: 7 }, CHANNEL, "type"],
    [{ channel_or_user_id: "#general" }, CHANNEL, "pattern", /^Use an ID such as C024BE91L, not a name\.$/],
    [{ channel_or_user_id: "@ana" }, CHANNEL, "pattern", /not a name/],
    [{ channel_or_user_id: "c024be91l" }, CHANNEL, "pattern"],
    [{ channel_or_user_id: "C024BE91L\n" }, CHANNEL, "pattern"],
    [{ channel_or_user_id: "" }, CHANNEL, "channel_unavailable"],
    [
      { channel_or_user_id: "C024BE91L", context_about_channel_or_user: "x".repeat(501) },
      "/slack/context_about_channel_or_user",
      "too_long",
    ],
    [
      { channel_or_user_id: "C024BE91L", allowed_responder_ids: [] },
      "/slack/allowed_responder_ids",
      "required",
      /^allowed_responder_ids if provided must not be empty$/,
    ],
    [
      { channel_or_user_id: "C024BE91L", allowed_responder_ids: ["U0ANA", "C024BE91L"] },
      "/slack/allowed_responder_ids/1",
      "pattern",
    ],
    [
      { channel_or_user_id: "C024BE91L", allowed_responder_ids: Array(101).fill("U0ANA") },
      "/slack/allowed_responder_ids",
      "too_long",
    ],
    [{ channel_or_user_id: "C024BE91L", allowed_responder_ids: "U0ANA" }, "/slack/allowed_responder_ids", "type"],
    [{ channel_or_user_id: "C024BE91L", thread_ts: "1763632800.1" }, "/slack/thread_ts", "pattern"],
    [{ channel_or_user_id: "C024BE91L", experimental_slack_blocks: "no" }, "/slack/experimental_slack_blocks", "type"],
    [{ channel_or_user_id: "C024BE91L", bot_token: "xoxp-1" }, "/slack/bot_token", "pattern"],
    [{ channel_or_user_id: "C024BE91L", channelOrUserId: "C1" }, "/slack/channelOrUserId", "unknown_field"],
    [{ channel_or_user_id: "C024BE91L", constructor: 1 }, "/slack/constructor", "unknown_field"],
  ];
  for (const [input, path, code, message] of WRONG) {
    it(`is refused at ${path} as ${code}: ${JSON.stringify(input).slice(0, 60)}`, async () => {
      await using scene = await openSlackScene();
      const parsed = scene.channel.parse(input);
      assert.ok("errors" in parsed);
      const [only, ...more] = parsed.errors;
      assert.deepEqual([only?.path, only?.code, more], [path, code, []]);
      assert.match(only?.message ?? "", message ?? /./);
    });
  }
});

describe("the deep check of a Slack target", () => {
  const target = (to: string) => ({ via: "slack", to, settings: {} }) as const;
  const signal = new AbortController().signal;

  it("finds nothing wrong with a person, or with a channel that the app is in", async () => {
    await using scene = await openSlackScene();
    assert.deepEqual(await scene.channel.check?.(target("U0ANA"), signal), []);
    assert.deepEqual(await scene.channel.check?.(target("C024BE91L"), signal), []);
    assert.deepEqual(await scene.channel.check?.(target("D024BE91L"), signal), []);
  });

  const REFUSED: readonly [to: string, method: string, reply: object, code: string][] = [
    ["U0NOBODY", "none", {}, "recipient_not_allowed"],
    ["U0LEFT", "none", {}, "recipient_not_allowed"],
    ["U0BOT", "none", {}, "recipient_not_allowed"],
    ["C0NONE", "conversations.info", { ok: false, error: "channel_not_found" }, "recipient_not_allowed"],
    [
      "C0OLD",
      "conversations.info",
      { ok: true, channel: { is_member: true, is_archived: true } },
      "recipient_not_allowed",
    ],
    ["C0OUT", "conversations.info", { ok: true, channel: { is_member: false } }, "recipient_not_allowed"],
    ["C0ANY", "conversations.info", { ok: false, error: "invalid_auth" }, "channel_unavailable"],
    ["C0ANY", "conversations.info", { ok: false, error: "internal_error" }, "channel_unavailable"],
  ];
  for (const [to, method, reply, code] of REFUSED) {
    it(`says ${code} of ${to} where Slack says ${JSON.stringify(reply)}`, async () => {
      await using scene = await openSlackScene();
      scene.slack.answer(method, () => ({ body: reply }));
      const errors = await scene.channel.check?.(target(to), signal);
      assert.deepEqual(
        errors?.map((one) => [one.path, one.code]),
        [[CHANNEL, code]],
      );
    });
  }

  it("asks nothing about an app whose token is not kept yet", async () => {
    await using scene = await openSlackScene();
    const withToken = { ...target("C024BE91L"), settings: { botToken: "token_1" } };
    assert.deepEqual(await scene.channel.check?.(withToken, signal), []);
    assert.deepEqual(scene.slack.calls, []);
  });

  it("passes where the app is not let see whether the channel exists", async () => {
    await using scene = await openSlackScene();
    scene.slack.answer("conversations.info", () => ({ body: { ok: false, error: "missing_scope" } }));
    assert.deepEqual(await scene.channel.check?.(target("G0PRIVATE"), signal), []);
  });
});
