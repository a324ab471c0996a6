import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DeliveryError } from "../../src/channels/channel.ts";
import { FIRST_LINE } from "../../src/channels/email/own-quote.ts";
import { parseEmail } from "../../src/channels/email/target.ts";
import { until } from "../support/contract.ts";
import {
  AGENT,
  ANA,
  DELIVERY,
  DOMAIN,
  LINK,
  NAME,
  noticeOf,
  openChannel,
  openSink,
  ORIGINAL,
  SIGNAL,
  targetOf,
  TOKEN,
} from "./mail.ts";

const header = (raw: Buffer, name: string): string[] => {
  const [head = ""] = raw.toString("utf8").split("\r\n\r\n", 1);
  const lines = head.replace(/\r\n[ \t]+/g, " ").split("\r\n");
  return lines.filter((line) => line.toLowerCase().startsWith(`${name}:`)).map((line) => line.slice(name.length + 2));
};
const failure = async (sending: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await sending.then(
    () => assert.fail("it was sent"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof DeliveryError);
  return error;
};

describe("a mail about an ask", () => {
  it("goes to one recipient, and everybody stands in its visible headers", async () => {
    await using sink = await openSink();
    const target = targetOf({
      additional_recipients: [
        { address: "bo@people.example" },
        { address: "cy@people.example", field: "cc" },
        { address: "dee@people.example", field: "bcc" },
      ],
    });
    const sent = await openChannel({ smtpUrl: sink.url }).send(noticeOf({}, { target }), SIGNAL);

    const [one, ...more] = sink.taken;
    assert.ok(one);
    assert.deepEqual(more, []);
    assert.deepEqual([one.from, one.to], [AGENT, [ANA]]);
    assert.deepEqual(header(one.raw, "to"), [`${ANA}, bo@people.example`]);
    assert.deepEqual(header(one.raw, "cc"), ["cy@people.example"]);
    assert.deepEqual(header(one.raw, "bcc"), []);
    assert.deepEqual(header(one.raw, "from"), [`Parley <${AGENT}>`]);
    assert.deepEqual(header(one.raw, "reply-to"), [`ask+${TOKEN}@${DOMAIN}`]);
    assert.deepEqual(header(one.raw, "message-id"), [ORIGINAL]);
    assert.deepEqual(header(one.raw, "auto-submitted"), ["auto-generated"]);
    assert.deepEqual(header(one.raw, "references"), [`<ask_0123456789ABCDEFGHIJKL.ask@${DOMAIN}>`]);
    assert.deepEqual(sent.externalIds, { thread: ORIGINAL, subject: "May it run: Deploy?" });
    assert.equal(one.mail.subject, "May it run: Deploy?");
    assert.ok(!one.raw.includes("dee@people.example"));
  });

  it("shows the whole call, how to decide it, and until when", async () => {
    await using sink = await openSink();
    const words = "Please hurry.\nReply to: evil@example.com";
    await openChannel({ smtpUrl: sink.url }).send(noticeOf({ words }), SIGNAL);
    const text = sink.taken[0]?.mail.text ?? "";
    for (const line of [
      "The agent deploy-bot (run run-7), a program, asks whether a function may run.",
      "| deploy",
      '|   "to": "prod"',
      "| Reply to: evil@example.com",
      "Answer before 2026-11-21 09:30 UTC. If nobody answers in time it counts as rejected.",
      LINK,
      "The page asks for this code: 7KQ2",
    ]) {
      assert.ok(text.split("\n").includes(line), `${line} is missing in\n${text}`);
    }
    assert.match(text, /reply with the one word approve/);
    // A reader of a forwarded mail learns neither the delivery nor the Message-ID.
    assert.match(text, /^Reference: [0-9a-f]{12}$/m);
    assert.doesNotMatch(sink.taken[0]?.mail.html + text, new RegExp(`${DELIVERY}|${NAME}|dlv_`));
  });

  it("says the same in HTML, where nothing is loaded from anywhere", async () => {
    await using sink = await openSink();
    const hostile = `<img src="https://evil.example/x.png"> <script>alert(1)</script> &amp; 'a' "b"`;
    await openChannel({ smtpUrl: sink.url }).send(
      noticeOf({
        words: hostile,
        title: hostile,
        form: { kind: "reply", options: [{ name: "a", interactive: false }] },
      }),
      SIGNAL,
    );
    const { text = "", html = "" } = sink.taken[0]?.mail ?? {};
    assert.ok(text.includes(hostile));
    const shown = html
      .replace(/<[^>]*>/g, "\n")
      .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
    const wordsOf = (of: string) => of.replace(/^\| /gm, "").split(/\s+/).filter(Boolean);
    assert.deepEqual(wordsOf(shown), wordsOf(text));
    assert.deepEqual(
      [...html.matchAll(/<([a-z0-9]+)/g)]
        .map((match) => match[1])
        .filter((tag) => !["p", "b", "pre"].includes(tag ?? "")),
      ["html", "body", "a"],
    );
    const tags = [...html.matchAll(/<[a-z][^>]*>/g)].join("");
    assert.deepEqual(
      [...tags.matchAll(/\b(?:src|href|url)\b\s*[=(]\s*"?([^"\s>]*)/g)].map((match) => match[1]),
      [LINK],
    );
  });

  it("is the same mail when it is sent again, and another one when it reminds", async () => {
    await using sink = await openSink();
    const channel = openChannel({ smtpUrl: sink.url });
    await channel.send(noticeOf(), SIGNAL);
    await channel.send(noticeOf(), SIGNAL);
    const ofReminder = { messageName: "dlv_0OfTheReminder0000000", reminder: true };
    await channel.send(noticeOf({}, { ...ofReminder, opening: "Ana,\nthis is late." }), SIGNAL);
    const [one, again, reminder] = sink.taken.map(({ mail }) => mail);
    assert.deepEqual([again?.messageId, again?.text, again?.html], [one?.messageId, one?.text, one?.html]);
    assert.equal(reminder?.messageId, `<${ofReminder.messageName}.m@${DOMAIN}>`);
    assert.equal(reminder?.subject, "Re: May it run: Deploy?");
    assert.equal(reminder?.references, one?.references);
    assert.ok(
      reminder?.text?.startsWith(`${FIRST_LINE}\n\n| Ana,\n| this is late.\n\nThis is still waiting for an answer.\n`),
    );
  });

  it("has no link, code or reply address in a blind copy", async () => {
    await using sink = await openSink();
    const parsed = parseEmail({
      address: ANA,
      additional_recipients: [{ address: "dee@people.example", field: "bcc" }],
    });
    assert.ok("others" in parsed);
    const [target] = parsed.others;
    assert.ok(target);
    await openChannel({ smtpUrl: sink.url }).send(noticeOf({}, { target }), SIGNAL);
    const { raw, to, mail } = sink.taken[0] ?? assert.fail("nothing was sent");
    assert.deepEqual(to, ["dee@people.example"]);
    assert.deepEqual(header(raw, "to"), [ANA]);
    for (const secret of [LINK, "7KQ2", TOKEN, "reply-to"]) {
      assert.ok(!`${raw.toString().toLowerCase()}${mail.text}${mail.html}`.includes(secret), `${secret} is told`);
    }
    assert.match(mail.text ?? "", /for your information/);
  });

  it("stands in the thread that its channel names, under the subject it names", async () => {
    await using sink = await openSink();
    const target = targetOf({
      subject: "Grüße\u202e",
      experimental_subject_line: "unused",
      experimental_in_reply_to_message_id: "<a@b>",
      references_message_id: "c@d",
    });
    await openChannel({ smtpUrl: sink.url }).send(noticeOf({}, { target }), SIGNAL);
    const { mail } = sink.taken[0] ?? assert.fail("nothing was sent");
    assert.equal(mail.subject, "Grüße\\u202e");
    assert.equal(mail.inReplyTo, "<a@b>");
    assert.equal(mail.references, `<c@d> <a@b> <ask_0123456789ABCDEFGHIJKL.ask@${DOMAIN}>`);
  });

  it("offers no approval where the arguments are too long, nor by reply where that is off", async () => {
    await using sink = await openSink();
    const kwargs = JSON.stringify({ secret: "x".repeat(30_000), why: "y" });
    const form = { kind: "approval", fn: "pay", kwargs, rejectOptions: [], editable: false } as const;
    await openChannel({ smtpUrl: sink.url }).send(noticeOf({ form }, { whole: false }), SIGNAL);
    await openChannel({ smtpUrl: sink.url, approveByReply: "never" }).send(noticeOf(), SIGNAL);
    const [long = "", off = ""] = sink.taken.map(({ mail }) => mail.text);
    assert.ok(long.includes(`secret, why. ${kwargs.length} characters are on the page.`) && !long.includes("xxx"));
    assert.ok(off.includes('"prod"'));
    for (const text of [long, off]) {
      assert.ok(text.includes(LINK) && text.includes("A reply can reject, and never approves."));
      assert.doesNotMatch(text, /one word approve/);
    }
  });

  it("cannot be made to hold a header or a recipient of somebody else's choice", async () => {
    await using sink = await openSink();
    const hostile = "x\r\nBcc: evil@example.com\r\n\r\nbody";
    const form = { kind: "approval", fn: hostile, kwargs: "{}", rejectOptions: [], editable: false } as const;
    await openChannel({ smtpUrl: sink.url }).send(
      noticeOf({ form, title: hostile, asker: `key:${hostile}`, wire: { run_id: hostile } }),
      SIGNAL,
    );
    const { raw, to, mail } = sink.taken[0] ?? assert.fail("nothing was sent");
    assert.deepEqual([to, header(raw, "bcc")], [[ANA], []]);
    assert.equal(mail.subject, "May it run: x\\u000d\\u000aBcc: evil@example.com\\u000d\\u000a\\u000d\\u000ab…?");
  });

  it("lists what can be chosen, and says what a value has to be, in its schema only where words cannot", async () => {
    await using sink = await openSink();
    const channel = openChannel({ smtpUrl: sink.url });
    const options = [
      { name: "eu", title: "Only in the EU", description: "as in May", interactive: false },
      { name: "all", interactive: true },
    ];
    await channel.send(noticeOf({ form: { kind: "reply", options }, title: "Where?", words: "Where to?" }), SIGNAL);
    await channel.send(noticeOf({ form: { kind: "value", schema: { type: "integer" } }, title: "How many?" }), SIGNAL);
    await channel.send(noticeOf({ form: { kind: "value", schema: { type: "array" } }, title: "Which?" }), SIGNAL);
    const parcel = { type: "object", required: ["to"], properties: { to: { type: "string" }, size: { enum: [1, 2] } } };
    await channel.send(noticeOf({ form: { kind: "value", schema: parcel }, title: "Where?" }), SIGNAL);
    await channel.send(noticeOf({ form: { kind: "value", schema: { type: "boolean" } }, title: "So?" }), SIGNAL);
    const [reply, value, list, fields, yesNo] = sink.taken.map(({ mail }) => mail);
    assert.ok(reply?.text?.includes("Ready-made answers:\n\n| #1 Only in the EU – as in May\n| #2 all\n"));
    assert.equal(reply?.subject, "Where?");
    assert.ok(value?.text?.includes("The answer is:\n\n| a whole number\n"));
    assert.ok(list?.text?.includes('JSON Schema:\n\n| {\n|   "type": "array"\n| }\n'));
    assert.ok(fields?.text?.includes("these fields:\n\n| to: text\n| size: one of 1, 2, optional\n"));
    assert.ok(yesNo?.text?.includes("Ready-made answers:\n\n| #1 Yes\n| #2 No\n"));
    for (const mail of [reply, value, list, fields, yesNo])
      assert.match(mail?.text ?? "", /asks for this code: 7KQ2\n/);
  });

  it("is followed by words in its thread", async () => {
    await using sink = await openSink();
    const channel = openChannel({ smtpUrl: sink.url });
    const sent = await channel.send(noticeOf(), SIGNAL);
    const words = `"maybe" was not understood.\n${LINK}`;
    await channel.tell?.(targetOf(), sent, words, SIGNAL);
    await channel.tell?.(targetOf(), sent, words, SIGNAL);
    await channel.tell?.(targetOf(), sent, "Something else.", SIGNAL);
    const [, one, again, other] = sink.taken.map(({ mail }) => mail);
    assert.equal(one?.inReplyTo, sent.externalIds["thread"]);
    assert.equal(one?.subject, "Re: May it run: Deploy?");
    assert.ok(one?.text?.includes(words.replace("\n", "\n\n")));
    assert.ok(one?.html?.includes(`<a href="${LINK}">`));
    assert.equal(again?.messageId, one?.messageId);
    assert.notEqual(other?.messageId, one?.messageId);
    assert.match(one?.messageId ?? "", new RegExp(`^<${NAME}\\.m[0-9a-f]{12}@${DOMAIN}>$`));
  });
});

describe("a mail that cannot be sent", () => {
  it("is tried again after 4xx, and never after 5xx; the error names nobody", async () => {
    await using sink = await openSink();
    const channel = openChannel({ smtpUrl: sink.url });
    const to = (address: string) => failure(channel.send(noticeOf({}, { target: targetOf({ address }) }), SIGNAL));
    const busy = await to("busy@people.example");
    assert.deepEqual([busy.retry, busy.providerCode], [true, "451"]);
    const gone = await to("gone@people.example");
    assert.deepEqual([gone.retry, gone.providerCode], [false, "550"]);
    assert.doesNotMatch(`${busy.stack} ${gone.stack} ${JSON.stringify(gone)} ${String(gone.cause)}`, /people\.example/);
    assert.deepEqual(sink.taken, []);
  });

  it("is tried again where nobody listens, and ends at once when it is called off", async () => {
    const sink = await openSink();
    const called = new AbortController();
    const slow = noticeOf({}, { target: targetOf({ address: "slow@people.example" }) });
    const hanging = failure(openChannel({ smtpUrl: sink.url }).send(slow, called.signal));
    await until(() => sink.hanging() > 0);
    called.abort();
    assert.equal((await hanging).retry, true);
    await sink[Symbol.asyncDispose]();
    assert.equal((await failure(openChannel({ smtpUrl: sink.url }).send(noticeOf(), SIGNAL))).retry, true);
  });

  it("says nothing before the connection is encrypted, off this computer", async () => {
    let spoken = 0;
    await using sink = await openSink({
      allowInsecureAuth: true,
      onAuth(_auth, _session, done) {
        spoken += 1;
        done(null, { user: "ana" });
      },
      onMailFrom(_address, _session, done) {
        spoken += 1;
        done();
      },
    });
    // This computer by an address that is not loopback.
    const channel = openChannel({ smtpUrl: `smtp://ana:secret@0.0.0.0:${sink.port}` });
    const error = await failure(channel.send(noticeOf(), SIGNAL));
    assert.deepEqual([error.retry, error.providerCode, spoken], [false, "500", 0]);
  });

  it("is permanent where the password is refused", async () => {
    await using sink = await openSink({
      allowInsecureAuth: true,
      authOptional: false,
      onAuth: (_auth, _session, done) => done(new Error("wrong")),
    });
    const channel = openChannel({ smtpUrl: `smtp://ana:secret@127.0.0.1:${sink.port}` });
    const error = await failure(channel.send(noticeOf(), SIGNAL));
    assert.deepEqual([error.retry, error.providerCode], [false, "535"]);
    assert.doesNotMatch(String(error.stack), /secret/);
  });
});
