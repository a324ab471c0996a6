import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { ImapFlow } from "imapflow";
import { pino } from "pino";
import type { InboundMessage, Receive } from "../../src/channels/channel.ts";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import { until } from "../support/contract.ts";
import { heldClock } from "../support/held-clock.ts";
import { canUse, itWith } from "../support/parts.ts";
import { MAILBOX_USER, startDovecot, type Dovecot } from "./dovecot.ts";
import { ANA, openChannel, openEars, replyMail, TOKEN } from "./mail.ts";

const REPLY_TO = `ask+${TOKEN}@parley.example`;
/** The token stands nowhere but in the envelope: the mail server has to keep it. */
const HIDDEN = { To: "undisclosed-recipients:;", "In-Reply-To": null };

const it = await itWith("Dovecot");

describe("a mailbox read by IMAP", () => {
  let dovecot: Dovecot;
  before(async () => {
    if (await canUse("Dovecot")) dovecot = await startDovecot();
  });
  after(async () => {
    await dovecot?.[Symbol.asyncDispose]();
  });

  /** Reads the mailbox until disposed. The held clock triggers no reading, so every mail arrives by IDLE. */
  function reading(receive: Receive, clock: Clock = heldClock(), settings = {}): AsyncDisposable {
    const stop = new AbortController();
    const ended = openChannel({ imapUrl: dovecot.imapUrl, ...settings }, { clock }).inbound?.listen?.(
      receive,
      stop.signal,
    );
    return {
      async [Symbol.asyncDispose]() {
        stop.abort();
        await ended;
      },
    };
  }

  it("is told of a reply at once, and knows by Delivered-To what it answers", async () => {
    const { messages, receive } = openEars();
    await using _reader = reading(receive);
    await dovecot.deliver(replyMail("reject: first", HIDDEN), REPLY_TO);
    await until(() => messages.length === 1);
    await dovecot.deliver(replyMail("reject: second", HIDDEN), REPLY_TO);
    await until(() => messages.length === 2);
    assert.deepEqual(
      messages.map(({ match, sender, content }) => [match, sender.id, content]),
      ["reject: first", "reject: second"].map((text) => [{ token: TOKEN }, ANA, { text }]),
    );
  });

  it("gives what came while nobody read, and nothing twice", async () => {
    await dovecot.deliver(replyMail("while away", HIDDEN), REPLY_TO);
    const { messages, receive } = openEars();
    {
      await using _reader = reading(receive);
      await until(() => messages.length === 1);
      await until(async () => (await unseen()) === 0);
    }
    const again = openEars();
    await using _reader = reading(again.receive);
    await dovecot.deliver(replyMail("a new one", HIDDEN), REPLY_TO);
    await until(() => again.messages.length === 1);
    assert.deepEqual(again.messages[0]?.content, { text: "a new one" });
  });

  it("keeps a mail that the core could not take, and gives it again with the next look", async () => {
    const clock = heldClock();
    const messages: InboundMessage[] = [];
    let failures = 0;
    const receive: Receive = async (one) => {
      if (failures === 0) throw new Error(`no database ${(failures += 1)}`);
      messages.push(one);
      return { kind: "accepted", says: "Recorded." };
    };
    await using _reader = reading(receive, clock);
    await dovecot.deliver(replyMail("stay", HIDDEN), REPLY_TO);
    await until(() => failures === 1);
    assert.equal(await unseen(), 1);
    await until(() => {
      clock.advance(60_000);
      return messages.length === 1;
    });
    assert.deepEqual(messages[0]?.content, { text: "stay" });
    await until(async () => (await unseen()) === 0);
  });

  it("leaves a mail unread that is beyond its sender's hour, and takes it in the next", async () => {
    const clock = heldClock();
    const { messages, receive } = openEars();
    await using _reader = reading(receive, clock, { mailsPerSender: 1 });
    await dovecot.deliver(replyMail("first", HIDDEN), REPLY_TO);
    await until(() => messages.length === 1);
    await dovecot.deliver(replyMail("second", HIDDEN), REPLY_TO);
    await dovecot.deliver(replyMail("of Bo", { ...HIDDEN, From: "bo@people.example" }), REPLY_TO);
    await until(() => messages.length === 2);
    assert.deepEqual(messages[1]?.content, { text: "of Bo" });
    await until(async () => (await unseen()) === 1);
    clock.advance(3_600_000);
    await until(() => {
      clock.advance(60_000);
      return messages.length === 3;
    });
    assert.deepEqual(messages[2]?.content, { text: "second" });
    await until(async () => (await unseen()) === 0);
  });

  it("is opened again when its server comes back", async () => {
    const { messages, receive } = openEars();
    await using _reader = reading(receive, systemClock);
    await dovecot.deliver(replyMail("before", HIDDEN), REPLY_TO);
    await until(() => messages.length === 1);
    await dovecot.restart();
    await dovecot.deliver(replyMail("after", HIDDEN), REPLY_TO);
    await until(() => messages.length === 2);
    assert.deepEqual(messages[1]?.content, { text: "after" });
  });

  it("is let go of at once where it cannot be opened, and nobody's password is logged", async () => {
    const lines: string[] = [];
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    const imapUrl = dovecot.imapUrl.replace("secret", "canary");
    const stop = new AbortController();
    const ended = openChannel({ imapUrl }, { clock: heldClock(), log }).inbound?.listen?.(
      openEars().receive,
      stop.signal,
    );
    await until(() => lines.some((line) => line.includes("trying again")));
    stop.abort();
    await ended;
    assert.doesNotMatch(lines.join(""), /canary|ask(@|%40)parley/);
  });

  async function unseen(): Promise<number> {
    const { hostname, port } = new URL(dovecot.imapUrl);
    const auth = { user: MAILBOX_USER, pass: "secret" };
    const client = new ImapFlow({
      host: hostname,
      port: Number(port),
      secure: false,
      doSTARTTLS: false,
      auth,
      logger: false,
    });
    await client.connect();
    const status = await client.status("INBOX", { unseen: true });
    await client.logout();
    return (status && status.unseen) || 0;
  }
});
