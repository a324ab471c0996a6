import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, it } from "node:test";
import { dkimSign } from "mailauth/lib/dkim/sign.js";
import { createTransport } from "nodemailer";
import type { EmailOutside, EmailSettings } from "../../src/channels/email/email.ts";
import { webhookSignature } from "../../src/lib/network/standard-webhooks.ts";
import { AGENT, ANA, DELIVERY, DOMAIN, openChannel, openEars, ORIGINAL, QUOTED, replyMail, TOKEN } from "./mail.ts";

const keys = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "der" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const RECORD = `v=DKIM1; k=rsa; p=${keys.publicKey.toString("base64")}`;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const DNS = { "s1._domainkey.people.example": RECORD };
const SIGNED = ["from", "to", "subject", "message-id", "in-reply-to", "references"].join(":");
const BY_TOKEN = { token: TOKEN };
const BY_MAIL = { messages: [ORIGINAL] };

const resolveIn = (records: Readonly<Record<string, string>>): EmailOutside["resolve"] =>
  async function resolve(name, type) {
    const record = type === "TXT" ? records[name] : undefined;
    if (record === undefined) throw Object.assign(new Error(`no ${name}`), { code: "ENOTFOUND" });
    return [[record]];
  };

/** Signs a mail as its author's provider does. */
async function signed(raw: string, domainName = "people.example", headerFieldNames = SIGNED): Promise<Buffer> {
  const dkim = { domainName, keySelector: "s1", privateKey: keys.privateKey, headerFieldNames };
  const transport = createTransport({ streamTransport: true, buffer: true, newline: "windows", dkim });
  const { message } = await transport.sendMail({ envelope: { from: ANA, to: [`ask+${TOKEN}@${DOMAIN}`] }, raw });
  return message as Buffer;
}

interface Situation {
  dns?: Readonly<Record<string, string>>;
  settings?: Partial<EmailSettings>;
  outside?: Partial<EmailOutside>;
}

/** Returns the request that delivers a mail to the hook, with the signature that the hook needs. */
function requestOf(raw: Buffer | string) {
  const body = Buffer.from(raw);
  const at = Math.floor(Date.now() / 1000);
  const rawHeaders = [
    "content-type",
    "message/rfc822",
    "webhook-id",
    "msg_1",
    "webhook-timestamp",
    String(at),
    "webhook-signature",
    `v1,${webhookSignature(SECRET, "msg_1", at, body)}`,
  ];
  return { headers: { "content-type": "message/rfc822" }, rawHeaders, query: "", body, params: {} };
}

/** Hands a mail in, and returns what it was taken to answer, and how far that was proved. */
async function trustIn(raw: Buffer | string, { dns = DNS, settings, outside }: Situation = {}) {
  const { messages, receive } = openEars();
  const channel = openChannel({ hookSecret: SECRET, ...settings }, { resolve: resolveIn(dns), ...outside });
  const [hook] = channel.inbound?.hooks ?? [];
  const reply = await hook?.handle(requestOf(raw), receive);
  assert.equal(reply?.status, 204);
  return { match: messages[0]?.match, trust: messages[0]?.trust };
}

const SUPPORT = `support@${DOMAIN}`;

/**
 * Sends a mail to an agent's address. Returns whether its author is proved, or undefined if the channel ignores the
 * mail.
 */
async function provedIn(raw: Buffer | string, situation: Situation = {}): Promise<boolean | undefined> {
  const { messages, receive } = openEars();
  const settings = { hookSecret: SECRET, entries: [SUPPORT], ...situation.settings };
  const channel = openChannel(settings, { resolve: resolveIn(situation.dns ?? DNS) });
  await channel.inbound?.hooks?.[0]?.handle(requestOf(raw), receive);
  return messages[0]?.talk?.proved;
}

const verified = (match: object) => ({ match, trust: "verified" });
/** Nothing is proved: a reply address still answers, and a Message-ID decides nothing. */
const weak = (match: object) => ({ match, trust: "messages" in match ? "none" : "weak" });

/** Resolves as `resolveIn` does, except that the name server is not reached for one name. */
function resolveWithout(unreached: string, records: Readonly<Record<string, string>> = DNS): EmailOutside["resolve"] {
  const reached = resolveIn(records);
  return async (name, type) => {
    if (name === unreached) throw Object.assign(new Error(`no reply about ${name}`), { code: "ETIMEOUT" });
    return (await reached?.(name, type)) ?? [];
  };
}

describe("a reply proves nothing while name servers are not reached", () => {
  for (const code of ["_dmarc.people.example", "s1._domainkey.people.example"]) {
    it(`for ${code}`, async () => {
      const mail = await signed(replyMail("approve"));
      assert.deepEqual(await trustIn(mail, { outside: { resolve: resolveWithout(code) } }), weak(BY_TOKEN));
    });
  }

  it("for the record of a domain below the one that signed", async () => {
    const from = { From: "Ana <ana@mail.people.example>" };
    const mail = await signed(replyMail("approve", from));
    const records = { ...DNS, "_dmarc.mail.people.example": "v=DMARC1; p=reject; adkim=s" };
    const outside = { resolve: resolveWithout("_dmarc.mail.people.example", records) };
    assert.deepEqual((await trustIn(mail, { dns: records })).trust, "weak");
    assert.deepEqual((await trustIn(mail, { outside })).trust, "weak");
  });
});

describe("a reply proves its author", () => {
  it("by a signature of the author's domain over what it answers", async () => {
    assert.deepEqual(await trustIn(await signed(replyMail("approve"))), verified(BY_TOKEN));
    const inCc = replyMail("approve", { To: "bo@people.example", Cc: `Parley <ask+${TOKEN}@${DOMAIN}>` });
    assert.deepEqual(await trustIn(await signed(inCc, "people.example", `${SIGNED}:cc`)), verified(BY_TOKEN));
  });

  it("by a signature over an answer to a message of ours, to the address that it came from", async () => {
    const to = (To: string) => replyMail("approve", { To });
    assert.deepEqual(await trustIn(await signed(to(`Parley <${AGENT.toUpperCase()}>`))), verified(BY_MAIL));
    const toBoth = await signed(to(`bo@people.example, ${AGENT}`));
    assert.deepEqual(await trustIn(toBoth), verified(BY_MAIL));
    const toGroup = await signed(to(`"A, B" <bo@people.example>, Us (here): ${AGENT}, cy@people.example;`));
    assert.deepEqual(await trustIn(toGroup), verified(BY_MAIL));
    const aboutWords = replyMail("approve", { To: AGENT, "In-Reply-To": ORIGINAL.replace(".m@", ".m0123456789ab@") });
    assert.deepEqual(await trustIn(await signed(aboutWords)), verified(BY_MAIL));
  });

  it("by a domain above or below the author's, unless that domain's DMARC record is strict", async () => {
    const below = await signed(replyMail("approve"), "mail.people.example");
    const dns = { "s1._domainkey.mail.people.example": RECORD };
    assert.deepEqual(await trustIn(below, { dns }), verified(BY_TOKEN));
    const relaxed = { ...dns, "_dmarc.people.example": "v=DMARC1; p=reject; adkim=r" };
    assert.deepEqual(await trustIn(below, { dns: relaxed }), verified(BY_TOKEN));
    const strict = { ...dns, "_dmarc.people.example": "v=DMARC1; p=none; adkim=s" };
    assert.deepEqual(await trustIn(below, { dns: strict }), weak(BY_TOKEN));
  });

  it("by the word of a mail server that the operator named", async () => {
    const settings = { trustedAuthservIds: ["MX.parley.example"] };
    const with_ = (value: string, more = "") =>
      trustIn(`Authentication-Results: ${value}\r\n${more}${replyMail("approve")}`, { settings });
    const good = "mx.parley.example 1; spf=fail; dmarc=pass (p=none) header.from=people.example";
    assert.deepEqual(await with_(good), verified(BY_TOKEN));
    assert.deepEqual(await with_("mx.parley.example; dkim=pass header.d=people.example"), verified(BY_TOKEN));
    const bad = [
      "mx.elsewhere.example; dmarc=pass header.from=people.example",
      "mx.parley.example; dmarc=pass header.from=evil.example",
      "mx.parley.example; dmarc=fail (dmarc=pass header.from=people.example)",
      'mx.parley.example; dmarc=fail reason="; dmarc=pass header.from=people.example"',
      "mx.parley.example; dkim=pass header.d=evil.example",
      "mx.parley.example; spf=pass smtp.mailfrom=people.example",
      "mx.parley.example.evil.example; dmarc=pass header.from=people.example",
      "mx.parley.example; none",
    ];
    for (const value of bad) assert.deepEqual(await with_(value), weak(BY_TOKEN), value);
    // The author's own claim stands below that of the server.
    assert.deepEqual(
      await with_("mx.parley.example; dmarc=fail", `Authentication-Results: ${good}\r\n`),
      weak(BY_TOKEN),
    );
    const elsewhere = replyMail("ok", { To: "bo@people.example" });
    const replayed = `Authentication-Results: ${good}\r\nDelivered-To: ask+${TOKEN}@${DOMAIN}\r\n${elsewhere}`;
    assert.deepEqual(await trustIn(replayed, { settings }), weak(BY_TOKEN));
  });
});

describe("a reply proves nothing", () => {
  const changed = (raw: Buffer, from: string, to: string): string => {
    assert.ok(raw.includes(from));
    return raw.toString("latin1").replace(from, to);
  };

  it("without a signature, or with one that no record confirms", async () => {
    assert.deepEqual(await trustIn(replyMail("approve")), weak(BY_TOKEN));
    const raw = await signed(replyMail("approve"));
    assert.deepEqual(await trustIn(raw, { dns: {} }), weak(BY_TOKEN));
    assert.deepEqual(await trustIn(raw, { dns: { "s1._domainkey.people.example": "v=DKIM1; p=" } }), weak(BY_TOKEN));
    const testing = { "s1._domainkey.people.example": `${RECORD}; t=y` };
    assert.deepEqual(await trustIn(raw, { dns: testing }), weak(BY_TOKEN));
    const away = { resolve: () => Promise.reject(new Error("no network")) };
    assert.deepEqual(await trustIn(raw, { outside: away }), weak(BY_TOKEN));
  });

  it("when a byte was changed after it was signed", async () => {
    const raw = await signed(replyMail("reject it"));
    assert.deepEqual(await trustIn(changed(raw, "reject it", "approve  ")), weak(BY_TOKEN));
    assert.deepEqual(await trustIn(changed(raw, "Subject: Re: May", "Subject: Re: may")), weak(BY_TOKEN));
    assert.deepEqual(await trustIn(changed(raw, "Ana Ruiz", "Ana Luiz")), weak(BY_TOKEN));
  });

  it("when another domain signed it", async () => {
    const dns = { "s1._domainkey.evil.example": RECORD };
    assert.deepEqual(await trustIn(await signed(replyMail("approve"), "evil.example"), { dns }), weak(BY_TOKEN));
  });

  it("when only part of its text was signed", async () => {
    const raw = replyMail("approve");
    const key = { signingDomain: "people.example", selector: "s1", privateKey: keys.privateKey };
    const { signatures } = await dkimSign(raw, {
      ...key,
      canonicalization: "relaxed/relaxed",
      headerList: SIGNED.split(":"),
      signatureData: [{ ...key, maxBodyLength: 9 }],
    });
    assert.match(signatures, /\bl=9\b/);
    assert.deepEqual(await trustIn(signatures + raw), weak(BY_TOKEN));
    assert.deepEqual(await trustIn(`${signatures}${raw}> Reference: ${DELIVERY}\r\n`), weak(BY_TOKEN));
  });

  it("when it was signed about something else, and sent here again", async () => {
    const elsewhere = await signed(replyMail("ok", { To: "bo@people.example", "In-Reply-To": "<x@people.example>" }));
    const replayed = `Delivered-To: ask+${TOKEN}@${DOMAIN}\r\nX-Original-To: ask+${TOKEN}@${DOMAIN}\r\n${elsewhere}`;
    assert.deepEqual(await trustIn(replayed), weak(BY_TOKEN));
    const added = `References: ${ORIGINAL}\r\nCc: ask+${TOKEN}@${DOMAIN}\r\n${elsewhere}`;
    assert.deepEqual((await trustIn(added)).trust, "weak");
    const few = await signed(replyMail("ok"), "people.example", "from:subject:message-id");
    assert.deepEqual(await trustIn(few), weak(BY_TOKEN));
  });

  it("about another message than the one that was signed", async () => {
    const other = `<dlv_0OfAnotherMessage00000.m@${DOMAIN}>`;
    const headers = { To: AGENT, "In-Reply-To": other };
    const replayed = `Delivered-To: ask+${TOKEN}@${DOMAIN}\r\n${await signed(replyMail("approve", headers))}`;
    assert.deepEqual(await trustIn(replayed), verified({ messages: [other] }));
  });

  it("when it was written to somebody else, whatever it follows", async () => {
    const elsewhere: readonly Record<string, string | null>[] = [
      { To: "Friendly Agent <agent@attacker.example>" },
      { To: "agent@attacker.example", References: ORIGINAL },
      // A person's name is not an address, and another domain is not ours.
      { To: `"${AGENT}" <agent@attacker.example>` },
      { To: `${AGENT} <agent@attacker.example>` },
      { To: `(") "A, ${AGENT}, B" <agent@attacker.example>` },
      { To: `"ask+${TOKEN}@${DOMAIN}" <agent@attacker.example>` },
      { To: `agent@attacker.example (\\), ${AGENT})` },
      { To: `Team: agent@attacker.example;, "${AGENT}"@attacker.example` },
      { To: `agent@attacker.example (ask+${TOKEN}@${DOMAIN}.attacker.example)` },
      { To: `parley@${DOMAIN}.attacker.example` },
      { To: `xparley@${DOMAIN}` },
      { To: DOMAIN },
      { To: "bo@people.example", Cc: AGENT },
    ];
    for (const headers of elsewhere) {
      const { trust } = await trustIn(await signed(replyMail("ok", headers)));
      assert.notEqual(trust, "verified", JSON.stringify(headers));
    }
  });

  it("where its author signed neither to whom it was written nor what it answers", async () => {
    for (const few of ["from:subject:message-id", "from:in-reply-to:references", "from:subject:in-reply-to"]) {
      const raw = await signed(replyMail(`approve${QUOTED}`), "people.example", few);
      assert.deepEqual(await trustIn(raw), weak(BY_TOKEN), few);
    }
    const toUs = { To: AGENT };
    for (const few of ["from:to", "from:to:references"]) {
      const raw = await signed(replyMail("ok", { ...toUs, References: ORIGINAL }), "people.example", few);
      assert.equal((await trustIn(raw)).trust, "none", few);
    }
  });

  it("by what it quotes, also where the agent wrote it", async () => {
    const quoted = `ok${QUOTED}> ticket ${DELIVERY}\n> ${ORIGINAL}\n> ask+${TOKEN.replace("a", "7")}@${DOMAIN}\n`;
    const few = await signed(replyMail(quoted), "people.example", "from:subject:date");
    assert.deepEqual(await trustIn(few), weak(BY_TOKEN));
    const toUs = await signed(replyMail(quoted, { To: AGENT, "In-Reply-To": null }));
    assert.deepEqual(await trustIn(toUs), { match: undefined, trust: undefined });
  });

  it("where it answers a message of a former version, whose Message-ID held what agents could read", async () => {
    const old = `<${DELIVERY}.1@${DOMAIN}>`;
    const raw = await signed(replyMail("approve", { To: AGENT, "In-Reply-To": old }));
    assert.deepEqual(await trustIn(raw), weak({ messages: [old] }));
    assert.deepEqual(await trustIn(await signed(replyMail("approve", { "In-Reply-To": old }))), verified(BY_TOKEN));
  });

  it("where the operator lets no reply approve", async () => {
    const settings = { approveByReply: "never" } as const;
    assert.deepEqual(await trustIn(await signed(replyMail("approve")), { settings }), weak(BY_TOKEN));
  });
});

describe("a mail to an agent's address", () => {
  const fresh = (text: string, headers: Record<string, string | null> = {}) =>
    replyMail(text, { To: `Support <${SUPPORT.toUpperCase()}>`, "In-Reply-To": null, ...headers });

  it("proves its author by a signature over whom it is to", async () => {
    assert.equal(await provedIn(await signed(fresh("hello"))), true);
    assert.equal(await provedIn(await signed(fresh("hello", { To: "bo@people.example", Cc: SUPPORT }))), false);
    const withCc = await signed(
      fresh("hello", { To: "bo@people.example", Cc: SUPPORT }),
      "people.example",
      `${SIGNED}:cc`,
    );
    assert.equal(await provedIn(withCc), true);
    const byName = await signed(fresh("hello", { To: `"${SUPPORT}" <bo@people.example>` }));
    assert.equal(await provedIn(byName), undefined);
  });

  it("proves nothing unsigned, changed, signed by another domain, or sent on from elsewhere", async () => {
    assert.equal(await provedIn(fresh("hello")), false);
    const good = (await signed(fresh("hello"))).toString("latin1");
    assert.equal(await provedIn(Buffer.from(good.replace("hello", "hallo"), "latin1")), false);
    assert.equal(await provedIn(await signed(fresh("hello"), "people.example", "from:subject")), false);
    const other = { "s1._domainkey.evil.example": RECORD };
    assert.equal(await provedIn(await signed(fresh("hello"), "evil.example"), { dns: other }), false);
    assert.equal(await provedIn(await signed(fresh("hello")), { dns: {} }), false);
    // A mail to somebody else, sent here again: its envelope and its way say so, and its author never did.
    const toOther = await signed(fresh("hello", { To: "bo@people.example" }));
    const replayed = Buffer.concat([Buffer.from(`Delivered-To: ${SUPPORT}\r\n`), toOther]);
    assert.equal(await provedIn(replayed), false);
    assert.equal(await provedIn(toOther), undefined);
  });
});
