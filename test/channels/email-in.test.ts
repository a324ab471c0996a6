import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createTransport } from "nodemailer";
import { pino } from "pino";
import { until } from "../support/contract.ts";
import { heldClock } from "../support/held-clock.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from "../support/loopback-tls.ts";
import {
  AGENT,
  ANA,
  DELIVERY,
  DOMAIN,
  listening,
  openChannel,
  NAME,
  openEars,
  ORIGINAL,
  QUOTED,
  replyMail,
  SIGNAL,
  TOKEN,
} from "./mail.ts";

const REPLY_TO = `ask+${TOKEN}@${DOMAIN}`;
const OLD = `<${DELIVERY}.1@${DOMAIN}>`;

/** Hands a mail over as another mail server does; returns the reply code. */
async function deliver(port: number, raw: string | Buffer, to: string = REPLY_TO, from: string = ANA): Promise<number> {
  const transport = createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
  try {
    await transport.sendMail({ envelope: { from, to: [to] }, raw });
    return 250;
  } catch (error) {
    return (error as { responseCode?: number }).responseCode ?? 0;
  }
}

const bounceOf = (status: string, original: string): string =>
  replyMail("", {
    From: `MAILER-DAEMON@people.example`,
    To: AGENT,
    "In-Reply-To": null,
    "Auto-Submitted": "auto-replied",
    "Content-Type": 'multipart/report; report-type=delivery-status; boundary="b"',
  }) +
  [
    "--b",
    "Content-Type: text/plain",
    "",
    "Sorry.",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; people.example",
    "",
    `Final-Recipient: rfc822; ${ANA}`,
    "Action: failed",
    `Status: ${status}`,
    "--b",
    "Content-Type: text/rfc822-headers",
    "",
    "Subject: x",
    `Message-ID: ${original}`,
    "To: ana",
    "",
    "--b--",
    "",
  ].join("\r\n");

describe("a reply that comes by SMTP", () => {
  it("is heard as its author's words, without quotes and signature", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    assert.equal(await deliver(listener.port, replyMail(`Reject: too risky.\n\n-- \nAna Ruiz\nCFO${QUOTED}`)), 250);
    const [one, ...more] = messages;
    assert.deepEqual(more, []);
    assert.ok(one);
    assert.match(one.id, /^[0-9a-f]{64}$/);
    assert.deepEqual(
      { ...one, id: "", at: 0 },
      {
        provider: "email",
        id: "",
        at: 0,
        match: { token: TOKEN },
        sender: { kind: "email", id: ANA },
        trust: "weak",
        content: { text: "Reject: too risky." },
      },
    );
  });

  it("answers what its reply address or the mail it follows says, never its subject", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    const other = TOKEN.replace("a", "7");
    const no = { To: AGENT, "In-Reply-To": null };
    const matches: [headers: Record<string, string | null>, to: string, wanted: object | null][] = [
      [{ To: AGENT }, `ASK+${TOKEN.toUpperCase()}@Parley.Example`, { token: TOKEN }],
      [{ ...no, "Delivered-To": REPLY_TO }, AGENT, { token: TOKEN }],
      [{ ...no, "X-Original-To": REPLY_TO }, AGENT, { token: TOKEN }],
      [{ ...no, "Delivered-To": REPLY_TO, To: `ask+${other}@${DOMAIN}` }, AGENT, { token: TOKEN }],
      [{ ...no, "In-Reply-To": ORIGINAL }, AGENT, { messages: [ORIGINAL] }],
      [{ ...no, References: `${OLD} <x@y> ${ORIGINAL}` }, AGENT, { messages: [ORIGINAL, OLD] }],
      [{ ...no, "In-Reply-To": OLD, References: `${OLD} ${ORIGINAL}` }, AGENT, { messages: [OLD, ORIGINAL] }],
      // Words about a message stand for it; of a former version they say not whether it was a reminder.
      [{ ...no, "In-Reply-To": `<${NAME}.m0a@${DOMAIN}>` }, AGENT, { messages: [ORIGINAL] }],
      [{ ...no, "In-Reply-To": `<${DELIVERY}.t0a@${DOMAIN}>` }, AGENT, { messages: [OLD, OLD.replace(".1@", ".r@")] }],
      [{ ...no, "In-Reply-To": `<${NAME}.m@elsewhere.example>` }, AGENT, null],
      [{ ...no, To: `ask+${TOKEN}@elsewhere.example` }, AGENT, null],
      [{ ...no, Subject: `Re: ${ORIGINAL} ${REPLY_TO}` }, AGENT, null],
    ];
    for (const [headers, to, wanted] of matches) {
      messages.length = 0;
      assert.equal(await deliver(listener.port, replyMail(`no${QUOTED}`, headers), to), 250);
      assert.deepEqual(messages[0]?.match ?? null, wanted, JSON.stringify(headers));
    }
  });

  it("has one author, or is not heard", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    await deliver(listener.port, replyMail("no", { From: `${ANA}, bo@people.example` }));
    await deliver(listener.port, `From: bo@people.example\r\n${replyMail("no")}`);
    await deliver(listener.port, replyMail("no", { From: null }));
    await deliver(listener.port, replyMail("no", { From: `Team: ${ANA};` }));
    assert.equal(messages.length, 0);
    await deliver(listener.port, replyMail("no", { From: '"bo@people.example" <ANA@People.example>' }));
    assert.deepEqual(messages[0]?.sender, { kind: "email", id: ANA });
  });

  it("is dropped when a program wrote it, or this server", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    const programs: Record<string, string>[] = [
      { "Auto-Submitted": "auto-replied" },
      { "Auto-Submitted": "auto-generated (rejected)" },
      { Precedence: "bulk" },
      { Precedence: "List" },
      { Precedence: "junk" },
      { "Return-Path": "<>" },
      { "Message-ID": ORIGINAL },
      { From: AGENT },
    ];
    for (const headers of programs) {
      assert.equal(await deliver(listener.port, replyMail("no", headers)), 250);
    }
    assert.equal(await deliver(listener.port, replyMail("no"), REPLY_TO, ""), 250);
    assert.deepEqual(messages, []);
    await deliver(listener.port, replyMail("no", { "Auto-Submitted": "No (really)", Precedence: "normal" }));
    assert.equal(messages.length, 1);
  });

  it("is the same to the core, whichever way it comes twice", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    const mail = replyMail("no");
    await deliver(listener.port, mail);
    await deliver(listener.port, `Received: from elsewhere\r\nDelivered-To: ${REPLY_TO}\r\n${mail}`, AGENT);
    await deliver(listener.port, mail.replace(/Message-ID:.*\r\n/, ""));
    const [one, again, unnamed] = messages.map(({ id }) => id);
    assert.equal(again, one);
    assert.notEqual(unnamed, one);
  });

  it("may be HTML alone, base64, in another alphabet, or nothing but quotes", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    const html = `<html><body><div>No &amp; thanks:<br>too&nbsp;late</div><div class="gmail_quote"><blockquote>approve</blockquote></div></body></html>`;
    await deliver(listener.port, replyMail(html, { "Content-Type": "text/html; charset=utf-8" }));
    const base64 = { "Content-Transfer-Encoding": "base64", "Content-Type": "text/plain; charset=iso-8859-1" };
    await deliver(listener.port, replyMail(Buffer.from("n\u00f6", "latin1").toString("base64"), base64));
    await deliver(listener.port, replyMail(QUOTED));
    await deliver(listener.port, replyMail("ok\n> asked\nbut only in the EU"));
    assert.deepEqual(
      messages.map(({ content }) => content),
      [{ text: "No & thanks:\ntoo late" }, { text: "nö" }, { text: "" }, { text: "ok\nbut only in the EU" }],
    );
  });

  it("holds nobody up with a text made to be read for ever", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    await deliver(listener.port, replyMail(`${"Op schreef\n".repeat(5000)}x`));
    assert.deepEqual(messages[0]?.content, { text: "" });
  });
});

describe("the SMTP listener", () => {
  it("takes mail for its own addresses alone, and passes nothing on", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    for (const [to, code] of [
      [AGENT, 250],
      [`Parley@PARLEY.example`, 250],
      [REPLY_TO, 250],
      [ANA, 550],
      [`ana@${DOMAIN}`, 550],
      [`ask@${DOMAIN}`, 550],
      [`ask+${TOKEN}x@${DOMAIN}`, 550],
      [`ask+${TOKEN.slice(1)}@${DOMAIN}`, 550],
      [`ask+${TOKEN.replace("a", "1")}@${DOMAIN}`, 550],
      [`ask+${TOKEN}@elsewhere.example`, 550],
      [`x.ask+${TOKEN}@${DOMAIN}`, 550],
      [`ask+${TOKEN}%elsewhere.example@${DOMAIN}`, 550],
    ] as const) {
      assert.equal(await deliver(listener.port, replyMail("no"), to), code, to);
    }
    assert.equal(messages.length, 3);
  });

  it("refuses what is larger than ten megabytes, whether it was announced or not", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    const large = replyMail(`${"x".repeat(70)}\n`.repeat(150_000));
    assert.equal(await deliver(listener.port, large), 552);
    const said = await speak(listener.port, [
      "EHLO x",
      `MAIL FROM:<${ANA}> SIZE=99999999`,
      `MAIL FROM:<${ANA}>`,
      `RCPT TO:<${REPLY_TO}>`,
      "DATA",
      `${large}\r\n.`,
    ]);
    assert.match(said, /^552 /m);
    assert.deepEqual(messages, []);
  });

  it("asks the other side to come again when the core cannot take a mail", async () => {
    await using listener = await listening(() => Promise.reject(new Error("no database")));
    assert.equal(await deliver(listener.port, replyMail("no")), 451);
  });

  it("accepts and forgets what is no mail, or answers nothing", async () => {
    const { messages, receive } = openEars();
    await using listener = await listening(receive);
    const nested = Array.from(
      { length: 200 },
      (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
    );
    for (const raw of [
      "",
      "\r\n\r\n",
      "\u0000\u0000",
      nested.join(""),
      replyMail("hi", { To: AGENT, "In-Reply-To": null }),
    ]) {
      assert.equal(await deliver(listener.port, raw, AGENT), 250);
    }
    assert.deepEqual(messages, []);
  });

  it("offers neither a login nor, without a certificate, STARTTLS", async () => {
    const { receive } = openEars();
    await using listener = await listening(receive);
    const greeting = await speak(listener.port, ["EHLO x", "AUTH PLAIN AGFuYQBhbmE="]);
    assert.doesNotMatch(greeting, /STARTTLS|AUTH/);
    assert.match(greeting, /^500 /m);
  });

  it("encrypts where it has a certificate", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-mail-"));
    const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(certFile, LOOPBACK_CERTIFICATE);
    writeFileSync(keyFile, LOOPBACK_KEY);
    const { messages, receive } = openEars();
    await using listener = await listening(receive, { certFile, keyFile });
    rmSync(folder, { recursive: true });
    const tls = { rejectUnauthorized: false };
    const transport = createTransport({ host: "127.0.0.1", port: listener.port, requireTLS: true, tls });
    await transport.sendMail({ envelope: { from: ANA, to: [REPLY_TO] }, raw: replyMail("no") });
    assert.equal(messages.length, 1);
    assert.match(await speak(listener.port, ["EHLO x"]), /STARTTLS/);
  });

  it("asks for a mail again later that is beyond its sender's hour", async () => {
    const { messages, receive } = openEars();
    const clock = heldClock();
    await using listener = await listening(receive, { mailsPerSender: 1 }, { clock });
    assert.equal(await deliver(listener.port, replyMail("reject: first")), 250);
    assert.equal(await deliver(listener.port, replyMail("reject: second")), 451);
    assert.equal(messages.length, 1);
    clock.advance(3_600_000);
    assert.equal(await deliver(listener.port, replyMail("reject: second")), 250);
    assert.deepEqual(messages[1]?.content, { text: "reject: second" });
  });

  it("tells of mails of ours that came back, and hears nothing in them", async () => {
    const { messages, receive } = openEars();
    const failed: unknown[][] = [];
    await using listener = await listening(receive, {}, { onFailed: async (...one) => void failed.push(one) });
    for (const raw of [
      bounceOf("5.1.1", ORIGINAL),
      bounceOf("4.4.7", ORIGINAL),
      bounceOf("2.0.0", ORIGINAL),
      bounceOf("5.1.1", "<somebody@elsewhere.example>"),
    ]) {
      assert.equal(await deliver(listener.port, raw, AGENT, ""), 250);
    }
    assert.deepEqual(failed, [[{ thread: ORIGINAL }, "5.1.1"]]);
    assert.deepEqual(messages, []);
  });

  it("logs what became of mails, and never whose they are or what they say", async () => {
    const { receive } = openEars();
    const lines: string[] = [];
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    {
      await using listener = await listening(receive, {}, { log });
      for (const [raw, to, from] of [
        [replyMail("CANARY"), REPLY_TO, ANA],
        [replyMail("CANARY", { To: AGENT, "In-Reply-To": null }), AGENT, ANA],
        [replyMail("CANARY", { Precedence: "bulk" }), REPLY_TO, ANA],
        [replyMail("CANARY", { From: `${ANA}, ${ANA}` }), REPLY_TO, ANA],
        [replyMail("CANARY"), `canary@elsewhere.example`, ANA],
        [bounceOf("5.1.1", ORIGINAL), AGENT, ""],
      ] as const) {
        await deliver(listener.port, raw, to, from);
      }
      await speak(listener.port, ["EHLO x", `MAIL FROM:<${ANA}>`, `CANARY ${ANA}`]);
    }
    const fates = lines.flatMap((line) => (JSON.parse(line) as { fate?: string }).fate ?? []);
    assert.deepEqual(fates, ["unaddressed", "automatic", "unreadable", "bounced"]);
    assert.ok(lines.some((line) => line.includes('"code":"5.1.1"')));
    assert.doesNotMatch(lines.join(""), new RegExp(`canary|${ANA}|${TOKEN}`, "i"));
  });

  it("says that its port is taken, and lets go of the mailbox beside it", async () => {
    const { receive } = openEars();
    await using listener = await listening(receive);
    let connections = 0;
    const mailbox = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(mailbox, "listening");
    const imapUrl = `imap://ana:secret@127.0.0.1:${(mailbox.address() as AddressInfo).port}`;
    const clock = heldClock();
    const channel = openChannel({ listen: `127.0.0.1:${listener.port}`, imapUrl }, { clock });
    await assert.rejects(async () => channel.inbound?.listen?.(receive, SIGNAL), { code: "EADDRINUSE" });
    // Another reader comes twice. Mail from before its first visit has arrived by its second.
    const other = heldClock();
    const stop = new AbortController();
    const reading = openChannel({ imapUrl }, { clock: other }).inbound?.listen?.(receive, stop.signal);
    const comes = async (againAfterMs: number) => {
      await until(() => other.begun(againAfterMs) === 1);
      other.advance(againAfterMs);
    };
    await comes(1000);
    await until(() => other.begun(2000) === 1);
    const seen = connections;
    clock.advance(60_000);
    await comes(2000);
    await comes(4000);
    await until(() => other.begun(8000) === 1);
    stop.abort();
    await reading;
    mailbox.close();
    assert.equal(connections, seen + 2);
  });
});

/** Speaks SMTP line by line, and returns all that was answered. */
async function speak(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let said = "";
  const answer = () =>
    new Promise<void>((resolve) => socket.once("data", (chunk: Buffer) => resolve(void (said += chunk))));
  await answer();
  for (const line of lines) {
    const next = answer();
    socket.write(`${line}\r\n`);
    await next;
  }
  socket.destroy();
  return said;
}
