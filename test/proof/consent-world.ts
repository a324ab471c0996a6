import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTransport } from "nodemailer";
import { pino } from "pino";
import { createKey } from "../../src/access/create-key.ts";
import { emailChannel } from "../../src/channels/email/email.ts";
import type { Channel } from "../../src/channels/channel.ts";
import { parseEmail } from "../../src/channels/email/target.ts";
import { sql } from "../../src/core/store/sql.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { signedWebhookHeaders } from "../../src/lib/network/standard-webhooks.ts";
import { SETTINGS, type Sink, type Taken } from "../channels/mail.ts";
import { openSlackDouble, TEAM, TOKENS, type SlackDouble } from "../channels/slack-double.ts";
import { bodyFor, BOT_TOKEN, OTHER_SECRET, SECRET, signedHeaders } from "../channels/slack-scene.ts";
import { enrol } from "../support/addressed.ts";
import { ROOMY } from "../support/contract.ts";
import { openPost } from "./consent-post.ts";
import { openWorld, type DatabaseName, type Reply, type World } from "../support/world.ts";

const HOOK_SECRET = "whsec_cGFybGV5LW1haWwtaG9vay10ZXN0LWtleSE=";
const PEOPLE = "people.example";
const SIGNED = "from:to:cc:subject:message-id:in-reply-to:references:mime-version:content-type";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const SETTLED_WITHIN_MS = 90_000;
/** The wait for a transaction before the next look. */
const LOOK_WITHIN_MS = 10;
const LOOKS_BEFORE_ADVANCE = 12;
const ADVANCE_MS = 50;
/** The asker's own app in Slack, whose bot token it holds. */
export const ASKERS_TOKEN = "xoxb-canary-askers-own-44d1";
export const ASKERS_APP = "A0ASKER";
/** The asker's own mailbox. */
export const ASKERS_MAILBOX = "asker@attacker.example";

/** Somebody who is asked. */
export interface Somebody {
  name: string;
  email: string;
  slack: string | null;
  /** The number that agents name an enrolled person by. */
  number: string | null;
  /** A key by which the person answers in the inbox. */
  answers: Record<string, string> | null;
}

/** A server with every channel on loopback, people, and the asker who wants its calls approved without them. */
export interface ConsentWorld extends AsyncDisposable {
  world: World;
  slack: SlackDouble;
  post: Sink;
  people: readonly Somebody[];
  /** The asker's keys. */
  agent: Record<string, string>;
  otherAgent: Record<string, string>;
  executor: Record<string, string>;
  otherExecutor: Record<string, string>;
  /** Resolves once nothing that is due waits to be sent. */
  settled(): Promise<void>;
  /** Hands in a mail as the operator's mail server does; one of a person's is signed by the person's domain. */
  mail(mail: OutgoingMail): Promise<Buffer>;
  /** Hands in a mail as it is. */
  hand(raw: Buffer): Promise<void>;
  /** Hands in what Slack says that somebody did, as Slack signs it for an app. */
  press(payload: object, app: "ours" | "askers"): Promise<void>;
  /** Presses a button of a link's page, as a browser does. */
  link(path: string, step: "open" | "decide", given: Record<string, string>, cookie?: string): Promise<Reply>;
  advance(ms: number): Promise<void>;
}

export interface OutgoingMail {
  from: string;
  to: string;
  subject?: string;
  inReplyTo?: string;
  text: string;
  /** The author's domain signs it. */
  signed: boolean;
}

const keys = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "der" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

/** Knows the one domain whose mails are signed. */
async function resolve(name: string, type: string): Promise<string[][]> {
  if (name === `s1._domainkey.${PEOPLE}` && type === "TXT") {
    return [[`v=DKIM1; k=rsa; p=${keys.publicKey.toString("base64")}`]];
  }
  throw Object.assign(new Error(`no ${name}`), { code: "ENOTFOUND" });
}

/** True while a message that is due waits to be sent, or is being sent. */
async function isSending(world: World): Promise<boolean> {
  const rows = await world.server.ctx.db.all(
    sql`
      SELECT 1 AS one FROM deliveries
      WHERE state = 'sending' OR (state = 'queued' AND due_at <= parley_now()) LIMIT 1`,
  );
  return rows.length > 0;
}

/** Returns what waits for the end of a transaction of the server's, or for so long. */
function noteTransactions({ server: { ctx } }: World): (withinMs: number) => Promise<void> {
  const { db } = ctx;
  let over = Promise.withResolvers<void>();
  const transact = db.transact.bind(db);
  db.transact = async (work, options) => {
    try {
      return await transact(work, options);
    } finally {
      over.resolve();
      over = Promise.withResolvers();
    }
  };
  return async (withinMs) => {
    const stop = new AbortController();
    await Promise.race([over.promise, sleep(withinMs, undefined, { signal: stop.signal }).catch(() => undefined)]);
    stop.abort();
  };
}

export async function openConsentWorld(on: DatabaseName): Promise<ConsentWorld> {
  await using parts = new AsyncDisposableStack();
  const slack = parts.use(await openSlackDouble());
  const post = parts.use(await openPost());
  (TOKENS as Record<string, string>)[ASKERS_TOKEN] = TEAM;
  const folder = mkdtempSync(join(tmpdir(), "parley-consent-"));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const app = { app_id: ASKERS_APP, bot_token: ASKERS_TOKEN, signing_secret: OTHER_SECRET };
  // Settings in JSON are settings in YAML.
  writeFileSync(join(folder, "parley.yaml"), JSON.stringify({ slack: { apps: [app] } }), { mode: 0o600 });
  const opened: { world?: World } = {};
  const clockOf = () => opened.world?.clock ?? systemClock;
  const clock: Clock = {
    now: () => clockOf().now(),
    monotonic: () => clockOf().monotonic(),
    uptime: () => clockOf().uptime(),
    sleep: (ms, signal) => clockOf().sleep(ms, signal),
    boot: systemClock.boot,
  };
  const outside = { clock, log: pino({ level: "silent" }), onFailed: async () => undefined, resolve };
  const email = emailChannel({ ...SETTINGS, smtpUrl: post.url, hookSecret: HOOK_SECRET }, outside);
  if (!email) throw new Error("there is no mail");
  const world = parts.use(
    await openWorld({
      on,
      env: {
        ...ROOMY,
        PARLEY_PUBLIC_URL: "https://parley.example",
        PARLEY_LIMITS_EDGE_PER_SECOND: "100000",
        PARLEY_LIMITS_EDGE_BURST: "100000",
        PARLEY_A2H_RECIPIENTS: "any",
        PARLEY_OPEN: "true",
        PARLEY_SLACK_BOT_TOKEN: BOT_TOKEN,
        PARLEY_SLACK_SIGNING_SECRET: SECRET,
        PARLEY_SLACK_API_URL: slack.url,
        PARLEY_SLACK_CHANNEL_APPROVERS: "members",
        PARLEY_CONFIG: join(folder, "parley.yaml"),
      },
      channels: [email as Channel],
    }),
  );
  opened.world = world;
  const transacted = noteTransactions(world);
  const mailer = createTransport({
    streamTransport: true,
    buffer: true,
    newline: "windows",
    dkim: { domainName: PEOPLE, keySelector: "s1", privateKey: keys.privateKey, headerFieldNames: SIGNED },
  });
  const plain = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  const people = await openPeople(world);
  const key = async (name: string, scope: "agent" | "executor") =>
    bearer((await createKey(world.server.ctx, { name, scope })).text);
  const ended = parts.move();

  const hand = async (raw: Buffer): Promise<void> => {
    const headers = signedWebhookHeaders([HOOK_SECRET], `msg_${randomUUID()}`, world.clock.now(), raw);
    await world.call("POST", "/hooks/email", { body: raw, headers: { ...headers, "content-type": "message/rfc822" } });
  };
  return {
    world,
    slack,
    post,
    people,
    agent: await key("asker", "agent"),
    otherAgent: await key("somebody-elses", "agent"),
    executor: await key("one", "executor"),
    otherExecutor: await key("other", "executor"),
    async settled() {
      const end = performance.now() + SETTLED_WITHIN_MS;
      for (let looks = 0; await isSending(world); looks += 1) {
        if (performance.now() > end) throw new Error("messages are not sent");
        await transacted(LOOK_WITHIN_MS);
        // A sender that sleeps on the held clock wakes; little time passes, so that no message is given up.
        if (looks >= LOOKS_BEFORE_ADVANCE) await world.advance(ADVANCE_MS);
      }
    },
    async mail({ from, to, subject = "Re: a request", inReplyTo, text, signed }) {
      const sent = await (signed ? mailer : plain).sendMail({ from, to, subject, inReplyTo, text });
      const raw = sent.message as Buffer;
      await hand(raw);
      return raw;
    },
    hand,
    async press(payload, app) {
      const body = bodyFor("/hooks/slack/interactions", payload);
      const secret = app === "ours" ? SECRET : OTHER_SECRET;
      const headers = { ...FORM, ...signedHeaders(body, secret, world.clock.now()) };
      await world.call("POST", "/hooks/slack/interactions", { body, headers });
    },
    link: (path, step, given, cookie) =>
      world.call("POST", `${path}/${step}`, {
        body: new URLSearchParams(given).toString(),
        headers: { ...FORM, origin: "null", "sec-fetch-site": "same-origin", ...(cookie && { cookie }) },
      }),
    advance: (ms) => world.advance(ms),
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  };
}

const bearer = (text: string): Record<string, string> => ({ authorization: `Bearer ${text}` });

/** Two who are enrolled, and one who is known by nothing but a mailbox. */
async function openPeople(world: World): Promise<Somebody[]> {
  const { ctx } = world.server;
  const enrolled = await Promise.all(
    (["Ana", "Bo"] as const).map(async (name): Promise<Somebody> => {
      const email = `${name.toLowerCase()}@${PEOPLE}`;
      const slack = `U0${name.toUpperCase()}`;
      const parsed = parseEmail({ address: email });
      if ("errors" in parsed) throw new Error("an address is wrong");
      const person = await enrol(ctx, name, [{ channel: "email", target: parsed.target }], {
        identities: [
          { kind: "email", value: email },
          { kind: "slack", value: slack },
        ],
      });
      const { text } = await createKey(ctx, { name: `${name}-answers`, scope: "answer", person });
      return { name, email, slack, number: person, answers: bearer(text) };
    }),
  );
  return [...enrolled, { name: "Cleo", email: `cleo@${PEOPLE}`, slack: null, number: null, answers: null }];
}

/** The credentials in a mail that let its reader answer. */
export interface MailTokens {
  link: string | null;
  code: string | null;
  replyTo: string | null;
  messageId: string;
  /** The Message-IDs by which the mail tells what it is about: its own, and that of the message that it follows. */
  about: readonly string[];
}

export function tokensIn({ mail }: Taken): MailTokens {
  const text = mail.text ?? "";
  return {
    link: /\/r\/[\w-]{43}/.exec(text)?.[0] ?? null,
    code: /code: (\w{4})\b/.exec(text)?.[1] ?? null,
    replyTo: mail.replyTo?.[0]?.address ?? null,
    messageId: mail.messageId ?? "",
    about: [mail.messageId, mail.inReplyTo].filter((id) => id !== undefined),
  };
}
