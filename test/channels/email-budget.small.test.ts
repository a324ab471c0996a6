import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import type { InboundMessage, InboundResult } from "../../src/channels/channel.ts";
import type { EmailSettings } from "../../src/channels/email/email.ts";
import { heldClock } from "../support/held-clock.ts";
import { ANA, openChannel, replyMail } from "./mail.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const HOUR_MS = 3_600_000;

/** The hook of a server whose clock is held; `is` becomes of each mail that is read. */
function openHook(settings: Partial<EmailSettings>, kind: InboundResult["kind"] = "no_match") {
  const clock = heldClock();
  const read: InboundMessage[] = [];
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(JSON.parse(line) as never) });
  const [hook] = openChannel({ hookSecret: SECRET, ...settings }, { clock, log }).inbound?.hooks ?? [];
  const script = { is: kind };
  return {
    clock,
    read,
    logged,
    script,
    /** Passes a mail on, and returns the status of the reply. */
    async post(from: string, text = "reject"): Promise<number | undefined> {
      const mail = replyMail(text, { From: from });
      const at = clock.now();
      const headers = {
        "content-type": "message/rfc822",
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(at / 1000)),
        "webhook-signature": new Webhook(SECRET).sign("msg_1", new Date(at), mail),
      };
      const rawHeaders = Object.entries(headers).flat();
      const request = { headers, rawHeaders, query: "", body: Buffer.from(mail), params: {} };
      const reply = await hook?.handle(request, async (message) => {
        read.push(message);
        return { kind: script.is, says: "Read." };
      });
      return reply?.status;
    },
  };
}

describe("the budget of those who send mails", () => {
  it("puts off what one sender sends beyond their hour, and nobody else's mails", async () => {
    const { post, read, clock } = openHook({ mailsPerSender: 2 });
    assert.equal(await post(ANA), 204);
    assert.equal(await post("Ana <ANA+work@people.example>"), 204, "a tag makes no sender of its own");
    assert.equal(await post(ANA, "reject: late"), 429);
    assert.equal(await post("bo@people.example"), 204);
    assert.equal(read.length, 3);
    clock.advance(HOUR_MS - 1);
    assert.equal(await post(ANA, "reject: late"), 429);
    clock.advance(1);
    assert.equal(await post(ANA, "reject: late"), 204, "what was put off is taken when it comes again");
    assert.deepEqual(read.at(-1)?.content, { text: "reject: late" });
  });

  it("counts the time that reading takes", async () => {
    const { post, clock } = openHook({ readingSecondsPerSender: 0.0001 });
    assert.equal(await post(ANA), 204);
    assert.equal(await post(ANA), 429);
    clock.advance(HOUR_MS);
    assert.equal(await post(ANA), 204);
  });

  it("is one for all who are unknown, whatever addresses they write, and leaves room for those who answered", async () => {
    const { post, script } = openHook({ mailsPerSender: 2 }, "accepted");
    assert.equal(await post(ANA), 204);
    script.is = "no_match";
    for (let i = 1; i < 20; i += 1) assert.equal(await post(`forged${i}@people.example`), 204);
    assert.equal(await post("forged20@people.example"), 429);
    assert.equal(await post("one@people.example, two@people.example"), 429, "no author is an unknown one");
    assert.equal(await post(ANA), 204);
    assert.equal(await post(ANA), 429, "the known have their own limit");
  });

  it("is told to the operator once an hour, with what was used", async () => {
    const { post, logged, clock } = openHook({ mailsPerSender: 1 });
    for (let i = 0; i < 4; i += 1) await post(ANA);
    assert.deepEqual(
      logged.map(({ domain, mails, msg }) => [domain, mails, msg]),
      [["people.example", 1, "mails of a sender wait: this hour's budget is used up"]],
    );
    assert.equal(typeof logged[0]?.["readingMs"], "number");
    clock.advance(HOUR_MS);
    for (let i = 0; i < 4; i += 1) await post(ANA);
    assert.equal(logged.length, 2);
  });
});
