import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DeliveryError } from "../../src/channels/channel.ts";
import type { ApiReply } from "./slack-double.ts";
import { aNotice, never, openSlackScene } from "./slack-scene.ts";

describe("a Slack message that cannot be sent", () => {
  const PERMANENT = [
    "channel_not_found",
    "not_in_channel",
    "is_archived",
    "user_not_found",
    "account_inactive",
    "invalid_auth",
    "token_revoked",
    "missing_scope",
    "restricted_action",
    "restricted_action_read_only_channel",
  ];
  const cases: readonly [what: string, reply: ApiReply, retry: boolean, code: string, afterMs?: number][] = [
    ...PERMANENT.map((error): [string, ApiReply, boolean, string] => [
      error,
      { body: { ok: false, error } },
      false,
      error,
    ]),
    ["429", { status: 429, headers: { "retry-after": "7" }, body: {} }, true, "ratelimited", 7000],
    ["429 without a time", { status: 429, body: {} }, true, "unreachable"],
    [
      "ratelimited",
      { headers: { "retry-after": "3" }, body: { ok: false, error: "ratelimited" } },
      true,
      "ratelimited",
      3000,
    ],
    ["internal_error", { body: { ok: false, error: "internal_error" } }, true, "internal_error"],
    ["503", { status: 503, body: "canary in a page" }, true, "http_503"],
    ["a page", { headers: { "content-type": "text/html" }, body: "<p>canary</p>" }, true, "unreadable_reply"],
    ["an empty reply", { body: { ok: true } }, true, "unreadable_reply"],
  ];
  for (const [what, reply, retry, providerCode, afterMs] of cases) {
    it(`is ${retry ? "tried again" : "given up"} after ${what}, without a word of what was sent`, async () => {
      await using scene = await openSlackScene();
      scene.slack.answer("chat.postMessage", () => reply);
      const error = await scene.channel.send(aNotice(), never()).then(
        () => assert.fail("it was sent"),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof DeliveryError);
      assert.deepEqual([error.retry, error.providerCode, error.retryAfterMs], [retry, providerCode, afterMs]);
      assert.equal(scene.slack.of("chat.postMessage").length, 1, "Slack's client tried again by itself");
      assert.doesNotMatch(`${JSON.stringify(error)} ${error.stack} ${String(error.cause)}`, /canary|C024BE91L/);
    });
  }

  it("is tried again when nobody answers, and ends when it is told to", async () => {
    await using scene = await openSlackScene();
    const gone = new AbortController();
    gone.abort();
    await assert.rejects(scene.channel.send(aNotice(), gone.signal), { retry: true, providerCode: "unreachable" });
    await scene.slack.goAway();
    await assert.rejects(scene.channel.send(aNotice(), never()), { retry: true, providerCode: "unreachable" });
  });
});
