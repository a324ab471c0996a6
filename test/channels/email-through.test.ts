import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTransport } from "nodemailer";
import type { Email } from "postal-mime";
import { Webhook } from "standardwebhooks";
import { createKey } from "../../src/access/create-key.ts";
import { reservePort } from "../support/ports.ts";
import { until } from "../support/contract.ts";
import { ONE_DATABASE, openWorld, type DatabaseName, type Reply, type World } from "../support/world.ts";
import { AGENT, ANA, DOMAIN, openSink, replyMail, type Sink } from "./mail.ts";

/** The whole server with a mail server on either side of it. */
interface Post extends AsyncDisposable {
  /** Asks Ana by mail, and returns the mail and a way to look at what became of it. */
  ask(kind: "function_calls" | "human_contacts", spec: Record<string, unknown>): Promise<Asked>;
  /** The newest mail to somebody; waits until there are so many. */
  mail(count: number, to?: string): Promise<Email>;
  send(raw: string, to: string, from?: string): Promise<void>;
  /** Posts a mail to the hook. */
  hook(raw: string, secret?: string): Promise<number>;
}

interface Asked {
  mail: Email;
  replyTo: string;
  status(): Promise<Reply["body"]>;
  /** Waits until the status fits. */
  until(fits: (status: Reply["body"]) => boolean): Promise<Reply["body"]>;
}

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const VOUCHED = { "Authentication-Results": "mx.parley.example; dmarc=pass header.from=people.example" };

async function openPost(on: DatabaseName): Promise<Post> {
  const sink = await openSink();
  const port = await reservePort();
  const env = {
    PARLEY_SMTP_URL: sink.url,
    PARLEY_EMAIL_FROM: `Parley <${AGENT}>`,
    PARLEY_EMAIL_LISTEN: `127.0.0.1:${port}`,
    PARLEY_EMAIL_TRUSTED_AUTHSERV_IDS: "mx.parley.example",
    PARLEY_EMAIL_HOOK_SECRET: SECRET,
  };
  const world = await openWorld({ on, running: true, env });
  const { text: key } = await createKey(world.server.ctx, { name: "deploy-bot", scope: "agent" });
  const headers = { authorization: `Bearer ${key}` };
  let calls = 0;

  const mail = (count: number, to = ANA) => newest(sink, count, to);
  return {
    mail,
    async ask(kind, spec) {
      const id = `call_${(calls += 1)}`;
      const body = { run_id: "run_1", call_id: id, spec: { channel: { email: { address: ANA } }, ...spec } };
      const before = sink.taken.length;
      const posted = await world.call("POST", `/humanlayer/v1/${kind}`, { headers, body });
      assert.equal(posted.status, 200, posted.text);
      const sent = await mail(before + 1);
      const status = () => statusOf(world, `/humanlayer/v1/${kind}/${id}`, headers);
      return {
        mail: sent,
        replyTo: sent.replyTo?.[0]?.address ?? assert.fail("nowhere to reply to"),
        status,
        until: (fits) =>
          until(async () => {
            const seen = await status();
            return fits(seen) ? seen : undefined;
          }),
      };
    },
    async send(raw, to, from = ANA) {
      await createTransport({ host: "127.0.0.1", port, ignoreTLS: true }).sendMail({
        envelope: { from, to: [to] },
        raw,
      });
    },
    async hook(body, secret = SECRET) {
      const now = new Date();
      const signature = new Webhook(secret).sign("msg_1", now, body);
      const at = String(Math.floor(now.getTime() / 1000));
      const signed = { "webhook-id": "msg_1", "webhook-timestamp": at, "webhook-signature": signature };
      const sent = { "content-type": "message/rfc822", ...signed };
      return (await fetch(`${world.url}/hooks/email`, { method: "POST", headers: sent, body })).status;
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await sink[Symbol.asyncDispose]();
    },
  };
}

async function statusOf(world: World, path: string, headers: Record<string, string>): Promise<Reply["body"]> {
  const reply = await world.call("GET", path, { headers });
  return reply.body.status;
}

async function newest(sink: Sink, count: number, to: string): Promise<Email> {
  await until(async () => sink.taken.length >= count);
  return sink.taken.findLast((one) => one.to[0] === to)?.mail ?? assert.fail("no mail");
}

const reply = (text: string, asked: Asked, headers: Record<string, string> = {}): string =>
  replyMail(text, { To: asked.replyTo, "In-Reply-To": asked.mail.messageId ?? "", ...headers });

describe("asking by mail", () => {
  for (const on of ONE_DATABASE) {
    it(`brings an approval back, once its author is proved, on ${on}`, async () => {
      await using post = await openPost(on);
      const asked = await post.ask("function_calls", { fn: "deploy", kwargs: { to: "prod" } });
      assert.match(asked.mail.text ?? "", /\| deploy\n/);

      // Nobody proves who wrote this: the page is offered instead.
      await post.send(reply("approve", asked), asked.replyTo);
      const told = await post.mail(2);
      assert.equal(told.inReplyTo, asked.mail.messageId);
      assert.match(told.text ?? "", /^http.*\/r\/\S+$/m);
      const { approved, failed_validation_details: failed } = await asked.status();
      assert.deepEqual([approved ?? null, failed?.reason], [null, "sender_unverified"]);

      await post.send(reply("Approve.", asked, VOUCHED), asked.replyTo);
      const status = await asked.until(({ approved: yes }) => yes !== undefined);
      assert.deepEqual([status.approved, status.user_info?.via], [true, "email"]);
    });
  }

  it("brings a rejection and an answer back, and asks again what it did not understand", async () => {
    await using post = await openPost("sqlite");
    const call = await post.ask("function_calls", { fn: "pay", kwargs: { eur: 40 } });
    await post.send(reply("hm, let me see", call), call.replyTo);
    const again = await post.mail(2);
    assert.match(again.subject ?? "", /^Re: /);
    // Nobody signs Ana's mails: the address alone shows which message she answers.
    const asked = { ...call, mail: again, replyTo: again.replyTo?.[0]?.address ?? assert.fail("nowhere to reply to") };
    await post.send(reply("Reject: too much", asked), asked.replyTo);
    const rejected = await call.until(({ approved }) => approved !== undefined);
    assert.deepEqual([rejected.approved, rejected.comment], [false, "too much"]);

    const contact = await post.ask("human_contacts", { msg: "Which colour?" });
    // A stranger who knows the reply address is not Ana.
    await post.send(reply("Red", contact, { From: "bo@people.example" }), contact.replyTo);
    await post.send(reply("Blue, please.\n\n> Which colour?", contact), contact.replyTo);
    const answered = await contact.until(({ response }) => Boolean(response));
    assert.equal(answered.response, "Blue, please.");
  });

  it("takes an answer that names its Message-ID alone from a proved author who wrote to this server", async () => {
    await using post = await openPost("sqlite");
    const contact = await post.ask("human_contacts", { msg: "Which colour?" });
    const call = await post.ask("function_calls", { fn: "pay", kwargs: { eur: 40 } });
    const elsewhere = { ...VOUCHED, To: "eve@attacker.example" };
    const spellings = [
      [contact, "Red", { To: AGENT }],
      [contact, "Red", elsewhere],
      [contact, "Red", { To: AGENT, "In-Reply-To": "<x@y>", References: contact.mail.messageId ?? "" }],
      [call, "Reject: no", { To: AGENT }],
      [call, "Reject: no", elsewhere],
    ] as const;
    for (const [asked, words, headers] of spellings) {
      await post.send(reply(words, asked, headers), AGENT);
      const { response, approved, failed_validation_details: failed } = await asked.status();
      assert.deepEqual([response, approved, failed?.reason], [undefined, undefined, "sender_unverified"]);
    }
    // The page is offered for each, at most three times an hour for one message.
    assert.match((await post.mail(7)).text ?? "", /Answer on the page/);

    await post.send(reply("Blue", contact, { To: AGENT, ...VOUCHED }), AGENT);
    assert.equal((await contact.status()).response, "Blue");
    await post.send(reply("Reject: no", call, { To: AGENT, ...VOUCHED }), AGENT);
    assert.equal((await call.until(({ approved }) => approved !== undefined)).approved, false);
  });

  it("takes replies at the hook, from whoever knows its secret", async () => {
    await using post = await openPost("sqlite");
    const asked = await post.ask("human_contacts", { msg: "Which size?" });
    assert.equal(await post.hook(reply("Small", asked), "whsec_b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhlcg=="), 401);
    const large = reply(`${"x".repeat(70)}\n`.repeat(30_000), asked);
    assert.equal(await post.hook(large.replace(asked.replyTo, AGENT).replace(/In-Reply-To:.*/, "X: y")), 204);
    assert.equal(await post.hook(reply("Medium – größer nicht", asked)), 204);
    assert.equal((await asked.status()).response, "Medium – größer nicht");
  });

  it("shows an agent that a mail came back", async () => {
    await using post = await openPost("sqlite");
    const asked = await post.ask("human_contacts", { msg: "Anybody there?" });
    await asked.until(({ deliveries }) => deliveries?.[0]?.state === "sent");
    const report = [
      "From: MAILER-DAEMON@people.example",
      `To: ${AGENT}`,
      "MIME-Version: 1.0",
      'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
      "",
      "--b",
      "Content-Type: message/delivery-status",
      "",
      "Status: 5.1.1",
      "--b",
      "Content-Type: message/rfc822",
      "",
      `Message-ID: ${asked.mail.messageId}`,
      `From: ${AGENT}`,
      "",
      "Hello.",
      "--b--",
      "",
    ];
    await post.send(report.join("\r\n"), AGENT, "");
    const { deliveries } = await asked.until((status) => status.deliveries?.[0]?.state === "failed");
    assert.doesNotMatch(JSON.stringify(deliveries), new RegExp(`${ANA}|${DOMAIN}`));
  });
});
