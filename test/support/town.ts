/** A server whose people are reached at the counterparts of real providers, all on this computer. */
import assert from "node:assert/strict";
import { createTransport, type Transporter } from "nodemailer";
import twilio from "twilio";
import { createKey } from "../../src/access/create-key.ts";
import { enrol, until } from "./addressed.ts";
import { AGENT, openSink, replyMail, type Sink, type Taken } from "../channels/mail.ts";
import { APP_TOKEN, openSlackDouble, type SlackDouble, type SlackSocket } from "../channels/slack-double.ts";
import { bodyFor, BOT_TOKEN, SECRET, signedHeaders } from "../channels/slack-scene.ts";
import { openTwilioDouble, type ApiCall, type TwilioDouble } from "../channels/twilio-double.ts";
import { reservePort } from "./ports.ts";
import { openBrowser } from "./signed-in.ts";
import { openWorld, type DatabaseName, type Reply, type World, type WorldOptions } from "./world.ts";

const PUBLIC_URL = "https://parley.example";
const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
const TOKEN = "canary-token-0123456789abcdef";
const OURS = "+4930901820";
/** This server's own mail server vouches for who wrote. */
const VOUCHED = { "Authentication-Results": "mx.parley.example; dmarc=pass header.from=people.example" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const INTERACTIONS = "/hooks/slack/interactions";

export interface Town extends AsyncDisposable {
  world: World;
  slack: SlackDouble;
  post: Sink;
  phones: TwilioDouble;
  agent: Record<string, string>;
  admin: Record<string, string>;
  /** Di, who sees everything in the inbox, signed in. */
  di: Record<string, string>;
  /** Sends what Slack says that somebody did: over the socket, or signed. */
  pressed(payload: object, over: "socket" | "http"): Promise<void>;
  /** Sends a reply to a mail, through a real SMTP conversation. */
  reply(to: Taken, from: string, words: string): Promise<void>;
  /** Sends what Twilio says that a phone did, signed. */
  texted(fields: Record<string, string>): Promise<void>;
  /** Presses a button of a one-time link's page. */
  link(path: string, step: "open" | "decide", given: Record<string, string>, cookie?: string): Promise<Reply>;
}

export { OURS };

/** Opens a town in which time runs by itself, as every party of its conversations has a clock of its own. */
export async function openTown(on: DatabaseName, more: Partial<WorldOptions> = {}): Promise<Town> {
  await using parts = new AsyncDisposableStack();
  const slack = parts.use(await openSlackDouble());
  const post = parts.use(await openSink());
  const phones = parts.use(await openTwilioDouble());
  const port = await reservePort();
  const env = {
    PARLEY_PUBLIC_URL: PUBLIC_URL,
    PARLEY_A2H_RECIPIENTS: "any",
    PARLEY_DELIVERY_MESSAGES_PER_HOUR: "100000",
    PARLEY_DELIVERY_RECIPIENTS_PER_HOUR: "100000",
    PARLEY_LIMITS_EDGE_PER_SECOND: "100000",
    PARLEY_LIMITS_EDGE_BURST: "100000",
    PARLEY_SLACK_BOT_TOKEN: BOT_TOKEN,
    PARLEY_SLACK_APP_TOKEN: APP_TOKEN,
    PARLEY_SLACK_SIGNING_SECRET: SECRET,
    PARLEY_SLACK_API_URL: slack.url,
    PARLEY_SMTP_URL: post.url,
    PARLEY_EMAIL_FROM: `Parley <${AGENT}>`,
    PARLEY_EMAIL_LISTEN: `127.0.0.1:${port}`,
    PARLEY_EMAIL_TRUSTED_AUTHSERV_IDS: "mx.parley.example",
    PARLEY_TWILIO_ACCOUNT_SID: ACCOUNT,
    PARLEY_TWILIO_AUTH_TOKEN: TOKEN,
    PARLEY_TWILIO_SMS_FROM: OURS,
    PARLEY_TWILIO_WHATSAPP_FROM: OURS,
    PARLEY_TWILIO_WHATSAPP_TEMPLATE_SID: "HX0123456789abcdef0123456789abcdef",
    PARLEY_TWILIO_COUNTRIES: "+49",
    PARLEY_TWILIO_API_URL: phones.origin,
    ...more.env,
  };
  const world = parts.use(await openWorld({ on, running: true, ...more, env }));
  const socket = await slack.nextSocket();
  const mailer = createTransport({ host: "127.0.0.1", port, ignoreTLS: true, pool: true, maxConnections: 10 });
  parts.defer(() => mailer.close());
  const ended = parts.move();
  return {
    world,
    slack,
    post,
    phones,
    agent: await bearer(world, "agent"),
    admin: await bearer(world, "admin"),
    di: (await openBrowser(world, await enrol(world.server.ctx, "Di", [], { seesAll: true }))).headers,
    pressed: (payload, over) => pressed(world, socket, payload, over),
    reply: (to, from, words) => reply(mailer, to, from, words),
    texted: (fields) => texted(world, fields),
    link: (path, step, given, cookie) =>
      world.call("POST", `${path}/${step}`, {
        body: new URLSearchParams(given).toString(),
        headers: { ...FORM, origin: "null", "sec-fetch-site": "same-origin", ...(cookie && { cookie }) },
      }),
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  };
}

async function bearer(world: World, scope: "agent" | "admin"): Promise<Record<string, string>> {
  const { text } = await createKey(world.server.ctx, { name: scope, scope });
  return { authorization: `Bearer ${text}` };
}

let envelopes = 0;

async function pressed(world: World, socket: SlackSocket, payload: object, over: "socket" | "http"): Promise<void> {
  if (over === "socket") {
    const id = `env-${(envelopes += 1)}`;
    await socket.send({ envelope_id: id, type: "interactive", payload, accepts_response_payload: true });
    return;
  }
  const body = bodyFor(INTERACTIONS, payload);
  const headers = { ...FORM, ...signedHeaders(body, SECRET, Date.now()) };
  assert.equal((await world.call("POST", INTERACTIONS, { body, headers })).status, 200);
}

async function reply(mailer: Transporter, to: Taken, from: string, words: string): Promise<void> {
  const address = to.mail.replyTo?.[0]?.address ?? assert.fail("nowhere to reply to");
  const raw = replyMail(words, { ...VOUCHED, From: from, To: address, "In-Reply-To": to.mail.messageId ?? "" });
  await mailer.sendMail({ envelope: { from, to: [address] }, raw });
}

let sids = 0;

async function texted(world: World, fields: Record<string, string>): Promise<void> {
  sids += 1;
  const all = { MessageSid: `SM${String(sids).padStart(32, "f")}`, AccountSid: ACCOUNT, NumMedia: "0", ...fields };
  const signature = twilio.getExpectedTwilioSignature(TOKEN, `${PUBLIC_URL}/hooks/twilio/message`, all);
  const heard = await world.call("POST", "/hooks/twilio/message", {
    headers: { ...FORM, "x-twilio-signature": signature },
    body: new URLSearchParams(all).toString(),
  });
  assert.deepEqual([heard.status, heard.text], [200, "<Response/>"]);
}

/** Waits until something is there. */
export async function found<T>(look: () => T | undefined): Promise<T> {
  await until(() => look() !== undefined);
  return look() ?? assert.fail("it went away");
}

/** Returns the messages to a number, in order. */
export const textsTo = (town: Town, number: string): ApiCall[] =>
  town.phones.calls.filter(({ form }) => form["To"] === number);

/** Returns the mails to an address, in order. */
export const mailsTo = (town: Town, address: string): Taken[] => town.post.taken.filter(({ to }) => to[0] === address);
