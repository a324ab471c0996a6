import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Webhook } from "standardwebhooks";
import type { HookReply, Receive } from "../../src/channels/channel.ts";
import { ANA, openChannel, openEars, replyMail, TOKEN } from "./mail.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

interface Change {
  at?: number;
  body?: string;
  headers?: Record<string, string | undefined>;
  twice?: string;
}

/** Posts a mail as another server passes it on, signed by a library of somebody else's. */
async function post(receive: Receive, mail: string, { at = Date.now(), body = mail, headers, twice }: Change = {}) {
  const [hook] = openChannel({ hookSecret: SECRET }).inbound?.hooks ?? [];
  const given: Record<string, string | undefined> = {
    "Content-Type": "message/rfc822",
    "Webhook-Id": "msg_1",
    "Webhook-Timestamp": String(Math.floor(at / 1000)),
    "Webhook-Signature": new Webhook(SECRET).sign("msg_1", new Date(at), mail),
    ...headers,
  };
  const sent = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const rawHeaders = [...sent, ...sent.filter(([name]) => name === twice)].flat();
  const parsed = Object.fromEntries(sent.map(([name, value]) => [name.toLowerCase(), value]));
  const reply = await hook?.handle(
    { headers: parsed, rawHeaders, query: "", body: Buffer.from(body), params: {} },
    receive,
  );
  return (reply as HookReply).status;
}

describe("the hook for mails", () => {
  it("takes a mail that was signed as Standard Webhooks says", async () => {
    const { messages, receive } = openEars();
    assert.equal(await post(receive, replyMail("reject: zu spät")), 204);
    assert.deepEqual(
      messages.map(({ match, sender, content }) => [match, sender, content]),
      [[{ token: TOKEN }, { kind: "email", id: ANA }, { text: "reject: zu spät" }]],
    );
    const mail = replyMail("reject");
    const at = Date.now();
    const keys = `v1,${"A".repeat(43)}= v2,x ${new Webhook(SECRET).sign("msg_1", new Date(at), mail)}`;
    assert.equal(await post(receive, mail, { at, headers: { "Webhook-Signature": keys } }), 204);
  });

  it("hears nothing in one that was not, or not now, or twice over", async () => {
    const { messages, receive } = openEars();
    const mail = replyMail("reject");
    const now = Date.now();
    for (const [change, status] of [
      [{ body: mail.replace("reject", "reject ") }, 401],
      [{ at: now - 302_000 }, 401],
      [{ at: now + 330_000 }, 401],
      [{ headers: { "Webhook-Id": "msg_2" } }, 401],
      [{ headers: { "Webhook-Id": undefined } }, 401],
      [{ headers: { "Webhook-Timestamp": `${Math.floor(now / 1000)}.0` } }, 401],
      [{ headers: { "Webhook-Timestamp": undefined } }, 401],
      [{ headers: { "Webhook-Signature": undefined } }, 401],
      [{ headers: { "Webhook-Signature": "v1," } }, 401],
      [
        {
          headers: {
            "Webhook-Signature": new Webhook("whsec_b3RoZXJvdGhlcm90aGVy").sign("msg_1", new Date(now), mail),
          },
        },
        401,
      ],
      [{ twice: "Webhook-Id" }, 401],
      [{ twice: "Webhook-Timestamp" }, 401],
      [{ twice: "Webhook-Signature" }, 401],
      [{ headers: { "Content-Type": "application/json" } }, 415],
      [{ headers: { "Content-Type": undefined } }, 415],
    ] as [Change, number][]) {
      assert.equal(await post(receive, mail, { at: now, ...change }), status, JSON.stringify(change));
    }
    assert.deepEqual(messages, []);
    for (const at of [now - 298_000, now + 298_000]) assert.equal(await post(receive, mail, { at }), 204);
  });

  it("passes on that the core could not take it, so that it is sent again", async () => {
    await assert.rejects(
      post(() => Promise.reject(new Error("no database")), replyMail("no")),
      /no database/,
    );
  });
});
