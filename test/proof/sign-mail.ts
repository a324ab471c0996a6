import { generateKeyPairSync } from "node:crypto";
import { createTransport } from "nodemailer";
import { provedReference } from "../../src/channels/email/authenticity.ts";
import { readMail } from "../../src/channels/email/read-mail.ts";
import { AGENT, ANA, DOMAIN, QUOTED, replyMail, TOKEN } from "../channels/mail.ts";
import type { Dice } from "./sim-dice.ts";
import { otherBytes, type Scheme, type Shown } from "./sign-forge.ts";

const SIGNED = "from:to:subject:message-id:in-reply-to:references:mime-version:content-type";

interface Pair {
  record: string;
  privateKey: string;
}

/** Mail that its author's provider signs (DKIM), and that answers by that proof alone (spec/channels 5.4). */
export const mail: Scheme<Buffer> = {
  name: "mail",
  share: 10,
  async make(dice) {
    const raw = replyMail(dice.pick(["approve", "reject", "yes, after lunch"]) + dice.pick(["", QUOTED]));
    const form = await signedMail(raw, "people.example", own());
    const stranger = await signedMail(raw, "evil.example", other());
    const ownName = await signedMail(raw, "people.example", other());
    return { form, read: readProved, forge: (one) => forge(one, form, { stranger, ownName }) };
  },
};

const own = once(newPair);
const other = once(newPair);

/** Signs a mail as the provider of a domain does. */
async function signedMail(raw: string, domainName: string, { privateKey }: Pair): Promise<Buffer> {
  const dkim = { domainName, keySelector: "s1", privateKey, headerFieldNames: SIGNED };
  const transport = createTransport({ streamTransport: true, buffer: true, newline: "windows", dkim });
  const envelope = { from: ANA, to: [`ask+${TOKEN}@${DOMAIN}`] };
  return (await transport.sendMail({ envelope, raw })).message as Buffer;
}

/** Returns the proved content of a mail: its reference, its author and its words; null if the mail is not proved. */
async function readProved(raw: Buffer): Promise<string | null> {
  const read = await readMail({ raw, recipients: [], fromNobody: false }, DOMAIN, AGENT).catch(() => null);
  if (!read) return null;
  const reference = await provedReference(raw, read, {
    domain: DOMAIN,
    agent: AGENT,
    trustedAuthservIds: ["mx.parley.example"],
    async resolve(name, type) {
      const records: Record<string, string> = {
        "s1._domainkey.people.example": own().record,
        "s1._domainkey.evil.example": other().record,
      };
      const record = type === "TXT" ? records[name] : undefined;
      if (record === undefined) throw Object.assign(new Error(`no ${name}`), { code: "ENOTFOUND" });
      return [[record]];
    },
  });
  if (!reference) return null;
  // A relay may fold and pad lines, which the signature leaves out on purpose.
  const words = (read.text ?? read.html ?? "").replace(/\s+/g, " ").trim();
  return JSON.stringify([reference, read.from, words]);
}

function forge(dice: Dice, raw: Buffer, signedOnes: { stranger: Buffer; ownName: Buffer }): Shown<Buffer> {
  const text = raw.toString("latin1");
  const edited = (change: (text: string) => string) => Buffer.from(change(text), "latin1");
  const ways: [string, () => Buffer, boolean?][] = [
    ["a byte differs", () => otherBytes(dice, raw), true],
    ["other words", () => edited((one) => one.replace(/\r\n\r\n\S+/, "\r\n\r\napprove all"))],
    ["words more", () => edited((one) => `${one}approve\r\n`)],
    ["another author", () => edited((one) => one.replace(/^From: .*$/m, "From: Eve <eve@people.example>"))],
    ["a second author", () => edited((one) => `From: Eve <eve@evil.example>\r\n${one}`)],
    [
      "the message it answers differs",
      () => edited((one) => one.replace(/^In-Reply-To: .*$/m, `In-Reply-To: <dlv_9999999999ABCDEFGHIJKL.m@${DOMAIN}>`)),
    ],
    [
      "the address it goes to differs",
      () => edited((one) => one.replace(`ask+${TOKEN}`, "ask+zyxwvutsrqponmlkjihgfedcb2")),
    ],
    ["no signature", () => edited((one) => one.replace(/^DKIM-Signature: .*\r\n([ \t].*\r\n)*/m, ""))],
    [
      "a length that is signed",
      () => edited((one) => one.replace(/DKIM-Signature: v=1;/, "DKIM-Signature: v=1; l=3;")),
    ],
    ["another domain signs", () => signedOnes.stranger],
    ["another key signs for the domain", () => signedOnes.ownName],
    [
      "somebody says that it is proved",
      () =>
        edited(
          (one) =>
            `Authentication-Results: mx.evil.example; dmarc=pass header.from=people.example\r\n${one.replace(/^DKIM-Signature: .*\r\n([ \t].*\r\n)*/m, "")}`,
        ),
    ],
  ];
  const [says, made, mayMeanTheSame = false] = dice.pick(ways);
  return { says, form: made(), mayMeanTheSame };
}

function newPair(): Pair {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return { record: `v=DKIM1; k=rsa; p=${publicKey.toString("base64")}`, privateKey };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
