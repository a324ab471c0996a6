import { createHash, createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { Webhook } from "standardwebhooks";
import type { RawRequest } from "../../src/channels/channel.ts";
import { findSigner } from "../../src/channels/slack/signature.ts";
import { verifiedForm } from "../../src/channels/twilio/signature.ts";
import { signedWebhookHeaders, verifiedWebhookId } from "../../src/lib/network/standard-webhooks.ts";
import type { Dice } from "./sim-dice.ts";
import { otherBytes, otherSecret, otherText, type Scheme, type Shown, type Signed } from "./sign-forge.ts";

/** A request as it comes in, and when. */
interface Sent {
  headers: readonly (readonly [string, string])[];
  body: Buffer;
  query: string;
  nowMs: number;
}

/** A provider's way of signing: the algorithm, and the headers that carry the signature. */
interface Provider {
  /** Names of the headers that carry the signature and what it covers, the signature last. */
  carriers: readonly string[];
  /** True where the time is signed and must be near. */
  hasTime: boolean;
  /** True if a reader gets the last of several headers of one name. */
  seesOne?: boolean;
  /** Signs a request as it stands, under a secret and by a hash, as the provider does by default. */
  sign(sent: Sent, secret: string, hash?: string): Sent;
  /** Returns what the server takes a request to say; null where it refuses it. */
  read(sent: Sent): string | null;
}

const NOON_MS = Date.UTC(2026, 10, 20, 12);
const TWILIO_URL = "https://parley.example.com/hooks/twilio";
/** The official library, which is CommonJS. */
const { getExpectedTwilioSignature } = createRequire(import.meta.url)("twilio") as {
  getExpectedTwilioSignature(token: string, url: string, form: Record<string, string>): string;
};

/** Requests that Slack signs: HMAC-SHA-256 over version, time and body. */
export const slack: Scheme<Sent> = {
  name: "slack",
  share: 190,
  async make(dice) {
    const [secret, other] = [secretOf(dice), secretOf(dice)];
    const payload = JSON.stringify({ type: "block_actions", user: { id: "U1" }, value: textOf(dice) });
    const provider: Provider = {
      carriers: ["x-slack-request-timestamp", "x-slack-signature"],
      hasTime: true,
      sign(sent, key, hash = "sha256") {
        const at = headerOf(sent, "x-slack-request-timestamp") ?? "";
        const mac = createHmac(hash, key).update(`v0:${at}:`).update(sent.body).digest("hex");
        return withHeader(sent, "x-slack-signature", `v0=${mac}`);
      },
      read(sent) {
        const candidates = [{ signingSecret: other }, { signingSecret: secret }];
        const signer = findSigner(rawOf(sent), candidates, sent.nowMs);
        const at = headerOf(sent, "x-slack-request-timestamp") ?? "";
        return signer ? `${candidates.indexOf(signer)} ${at} ${sent.body.toString("hex")}` : null;
      },
    };
    const unsigned = newRequest(`payload=${encodeURIComponent(payload)}`, [
      ["Content-Type", "application/x-www-form-urlencoded"],
      ["X-Slack-Request-Timestamp", String(NOON_MS / 1000 - dice.int(250))],
    ]);
    return signedRequest(provider, unsigned, secret);
  },
};

/** Requests signed as Standard Webhooks says, which mail and callbacks come by. */
export const webhookIn: Scheme<Sent> = {
  name: "webhooks in",
  share: 190,
  async make(dice) {
    const [secret, former] = [webhookSecretOf(dice), webhookSecretOf(dice)];
    const provider: Provider = {
      carriers: ["webhook-id", "webhook-timestamp", "webhook-signature"],
      hasTime: true,
      sign: signWebhook,
      read(sent) {
        const { rawHeaders, body } = rawOf(sent);
        const id = verifiedWebhookId({ rawHeaders, body }, [former, secret], sent.nowMs);
        return id === undefined ? null : `${id} ${headerOf(sent, "webhook-timestamp")} ${body.toString("hex")}`;
      },
    };
    const unsigned = newRequest(JSON.stringify({ delivery: "dlv_1", approved: true, comment: textOf(dice) }), [
      ["Content-Type", "application/json"],
      ["Webhook-Id", `msg_${dice.int(1e9)}`],
      ["Webhook-Timestamp", String(NOON_MS / 1000 + dice.between(-250, 250))],
    ]);
    return signedRequest(provider, unsigned, secret);
  },
};

/** The messages of this server to agents, as the reference library of Standard Webhooks reads them. */
export const webhookOut: Scheme<Sent> = {
  name: "webhooks out",
  share: 60,
  async make(dice) {
    const [secret, former] = [webhookSecretOf(dice), webhookSecretOf(dice)];
    const body = Buffer.from(JSON.stringify({ type: "function_call.completed", data: textOf(dice) }));
    // The library goes by the machine's clock alone.
    const nowMs = Date.now();
    const headers = signedWebhookHeaders([secret, former], `msg_${dice.int(1e9)}`, nowMs, body);
    const library = new Webhook(dice.pick([secret, former]));
    const provider: Provider = {
      carriers: ["webhook-id", "webhook-timestamp", "webhook-signature"],
      hasTime: false,
      seesOne: true,
      sign: signWebhook,
      read(sent) {
        try {
          library.verify(
            sent.body,
            Object.fromEntries(sent.headers.map(([name, value]) => [name.toLowerCase(), value])),
          );
        } catch {
          return null;
        }
        const [id, at] = ["webhook-id", "webhook-timestamp"].map((name) => headerOf(sent, name));
        return `${id} ${Number.parseInt(at ?? "", 10)} ${sent.body.toString("hex")}`;
      },
    };
    const sent = { headers: Object.entries(headers), body, query: "", nowMs };
    return { form: sent, read: (one) => provider.read(one), forge: (one) => forgeRequest(one, provider, sent, secret) };
  },
};

/**
 * Messages that Twilio signs: HMAC-SHA-1 over the address and the sorted fields. It signs names and values without what
 * separates them, and no time: what counts as said is therefore the very text that is signed, and a message id that was
 * seen before is dropped elsewhere (spec/channels 4).
 */
export const twilio: Scheme<Sent> = {
  name: "twilio",
  share: 190,
  async make(dice) {
    const token = secretOf(dice);
    const provider: Provider = {
      carriers: ["x-twilio-signature"],
      hasTime: false,
      sign(sent, key, hash = "sha1") {
        if (hash !== "sha1") {
          const mac = createHmac(hash, key)
            .update(TWILIO_URL + signedText(formOf(sent.body)))
            .digest("base64");
          return withHeader(sent, "X-Twilio-Signature", mac);
        }
        const signature = getExpectedTwilioSignature(key, TWILIO_URL, Object.fromEntries(formOf(sent.body)));
        return withHeader(sent, "X-Twilio-Signature", signature);
      },
      read(sent) {
        const form = verifiedForm(rawOf(sent), TWILIO_URL, token);
        return form ? `${sent.query} ${signedText(form)}` : null;
      },
    };
    const fields = {
      AccountSid: "AC1",
      Body: textOf(dice),
      From: "+15550100",
      MessageSid: `SM${dice.int(1e9)}`,
      To: "+1555",
    };
    const unsigned = newRequest(new URLSearchParams(fields).toString(), [
      ["Content-Type", "application/x-www-form-urlencoded"],
    ]);
    return signedRequest(provider, unsigned, token);
  },
};

/** The same with a body of JSON, whose hash stands in the address. */
export const twilioJson: Scheme<Sent> = {
  name: "twilio json",
  share: 60,
  async make(dice) {
    const token = secretOf(dice);
    const provider: Provider = {
      carriers: ["x-twilio-signature"],
      hasTime: false,
      sign(sent, key, hash = "sha1") {
        const mac = createHmac(hash, key).update(`${TWILIO_URL}?${sent.query}`).digest("base64");
        return withHeader(sent, "X-Twilio-Signature", mac);
      },
      read(sent) {
        const form = verifiedForm(rawOf(sent), TWILIO_URL, token);
        return form ? `${sent.query} ${sent.body.toString("hex")}` : null;
      },
    };
    const body = JSON.stringify({ MessageSid: `SM${dice.int(1e9)}`, Body: textOf(dice) });
    const digest = createHash("sha256").update(body).digest("hex");
    const unsigned = { ...newRequest(body, [["Content-Type", "application/json"]]), query: `bodySHA256=${digest}` };
    return signedRequest(provider, unsigned, token);
  },
};

function signWebhook(sent: Sent, secret: string, hash = "sha256"): Sent {
  const [id = "", at = ""] = ["webhook-id", "webhook-timestamp"].map((name) => headerOf(sent, name));
  const mac = createHmac(hash, Buffer.from(secret.replace(/^whsec_/, ""), "base64"));
  const text = mac.update(`${id}.${at}.`).update(sent.body).digest("base64");
  return withHeader(sent, "webhook-signature", `v1,${text}`);
}

function signedRequest(provider: Provider, unsigned: Sent, secret: string): Signed<Sent> {
  const form = provider.sign(unsigned, secret);
  return { form, read: (sent) => provider.read(sent), forge: (dice) => forgeRequest(dice, provider, form, secret) };
}

function forgeRequest(dice: Dice, provider: Provider, sent: Sent, secret: string): Shown<Sent> {
  const name = dice.pick(provider.carriers);
  const last = provider.carriers.at(-1) ?? "";
  const value = headerOf(sent, name) ?? "";
  const ways: [string, () => Sent, boolean?][] = [
    ["the body differs", () => ({ ...sent, body: otherBytes(dice, sent.body) }), true],
    ["the body is another's", () => ({ ...sent, body: Buffer.from(`payload=${dice.int(1e9)}`) })],
    [`${name} differs`, () => withHeader(sent, name, otherText(dice, value)), true],
    [`${name} is missing`, () => withoutHeader(sent, name)],
    [`${name} is empty`, () => withHeader(sent, name, "")],
    [`${name} stands twice`, () => ({ ...sent, headers: [...sent.headers, [name, value]] }), provider.seesOne],
    [`${name} stands twice, forged first`, () => forgedFirst(dice, sent, name), provider.seesOne],
    ["headers stand in another order", () => ({ ...sent, headers: dice.shuffle([...sent.headers]) }), true],
    ["the secret differs", () => provider.sign(sent, otherSecret(dice, secret))],
    ["the hash differs", () => provider.sign(sent, secret, dice.pick(["md5", "sha512", "sha384"]))],
    [
      "the address has more",
      () => ({ ...sent, query: `${sent.query}&x=${dice.int(9)}` }),
      !name.startsWith("x-twilio"),
    ],
    ["the address differs", () => ({ ...sent, query: otherText(dice, sent.query) }), true],
    [`a second ${last}`, () => withHeader(sent, last, `${headerOf(sent, last)}, ${headerOf(sent, last)}`), true],
  ];
  if (provider.hasTime) {
    const at = provider.carriers.find((one) => one.endsWith("timestamp")) ?? "";
    ways.push(
      ["it comes too late", () => ({ ...sent, nowMs: sent.nowMs + 551_000 + dice.int(1e9) })],
      ["it comes from the future", () => ({ ...sent, nowMs: sent.nowMs - 551_000 - dice.int(1e9) })],
      ["its time is none, and signed", () => provider.sign(withHeader(sent, at, dice.pick(ODD_TIMES)), secret)],
    );
  }
  const [says, made, mayMeanTheSame = false] = dice.pick(ways);
  return { says, form: made(), mayMeanTheSame };
}

function forgedFirst(dice: Dice, sent: Sent, name: string): Sent {
  return { ...sent, headers: [[name, otherText(dice, headerOf(sent, name) ?? "")], ...sent.headers] };
}

const ODD_TIMES = [
  "",
  "0",
  "-1",
  "1e10",
  "NaN",
  "Infinity",
  "9999999999",
  "99999999999",
  " 1",
  "0x1",
  "1795000000.5",
  "null",
];

function signedText(form: ReadonlyMap<string, readonly string[] | string>): string {
  const names = [...form.keys()].sort();
  return names
    .map((name) =>
      [...new Set([form.get(name) ?? ""].flat())]
        .sort()
        .map((value) => name + value)
        .join(""),
    )
    .join("");
}

const formOf = (body: Buffer): Map<string, string> => new Map(new URLSearchParams(body.toString("utf8")));

function newRequest(body: string, headers: Sent["headers"]): Sent {
  return { headers, body: Buffer.from(body), query: "", nowMs: NOON_MS };
}

function rawOf({ headers, body, query }: Sent): RawRequest {
  const named = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  return { headers: named, rawHeaders: headers.flat(), query, body };
}

function headerOf({ headers }: Sent, name: string): string | undefined {
  return headers.findLast(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
}

function withHeader(sent: Sent, name: string, value: string): Sent {
  return { ...withoutHeader(sent, name), headers: [...withoutHeader(sent, name).headers, [name, value]] };
}

function withoutHeader(sent: Sent, name: string): Sent {
  return { ...sent, headers: sent.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()) };
}

const secretOf = (dice: Dice): string => Buffer.from(dice.bytes(16)).toString("hex");
/** HMAC fills a short key up with zeros. A key that ends in a zero therefore equals the key without it. */
const webhookSecretOf = (dice: Dice): string =>
  `whsec_${Buffer.from([...dice.bytes(23), dice.between(1, 255)]).toString("base64")}`;
const textOf = (dice: Dice): string =>
  dice.pick(["approve", "yes, after lunch", "Привет", "a&b=c+d %41", '{"a":[1,2]}', ""]) + dice.int(1e6);
