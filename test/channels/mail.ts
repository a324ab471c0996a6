import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { InboundMessage, Notice, Receive } from "../../src/channels/channel.ts";
import { emailChannel, type EmailOutside, type EmailSettings } from "../../src/channels/email/email.ts";
import { parseEmail, type EmailTarget } from "../../src/channels/email/target.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Request } from "../../src/requests/model/request.ts";
import { viewOf } from "../../src/requests/model/view.ts";

export const SIGNAL = new AbortController().signal;
export const DOMAIN = "parley.example";
export const AGENT = `parley@${DOMAIN}`;
export const ANA = "ana@people.example";
export const TOKEN = "abcdefghijklmnopqrstuvwxy2";
export const DELIVERY = "dlv_0123456789ABCDEFGHIJKL";
/** The message's public name, which its Message-ID holds. */
export const NAME = "dlv_ZYXWVUTSRQPONMLKJIHGFE";
export const ORIGINAL = `<${NAME}.m@${DOMAIN}>`;
export const LINK = "https://parley.example/r/secret-link-token";

/** A mail that a server took: the envelope and the bytes. */
export interface Taken {
  from: string;
  to: string[];
  raw: Buffer;
  mail: Email;
}

/** A mail server on an ephemeral port of this computer. */
export interface Sink extends AsyncDisposable {
  port: number;
  url: string;
  taken: Taken[];
  /** How many mails hang. */
  hanging(): number;
}

/** Takes mail for everybody but `busy@` (451) and `gone@` (550); hangs at `slow@`. */
export async function openSink(options: SMTPServerOptions = {}): Promise<Sink> {
  const taken: Taken[] = [];
  let hanging = 0;
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ["STARTTLS"],
    closeTimeout: 50,
    onRcptTo({ address }, _session, done) {
      if (address.startsWith("slow@")) return void (hanging += 1);
      const code = address.startsWith("busy@") ? 451 : address.startsWith("gone@") ? 550 : 0;
      done(code === 0 ? null : Object.assign(new Error(`refused ${address}`), { responseCode: code }));
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = Buffer.concat(chunks);
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        void PostalMime.parse(raw).then((mail) => {
          taken.push({ from, to, raw, mail });
          done();
        });
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    taken,
    hanging: () => hanging,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export const SETTINGS: EmailSettings = {
  smtpUrl: "smtp://127.0.0.1:9",
  from: `Parley <${AGENT}>`,
  approveByReply: "verified",
  trustedAuthservIds: [],
};

export const QUIET: EmailOutside = {
  clock: systemClock,
  log: pino({ level: "silent" }),
  onFailed: async () => undefined,
  resolve: () => Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" })),
};

export function openChannel(settings: Partial<EmailSettings>, outside: Partial<EmailOutside> = {}) {
  const channel = emailChannel({ ...SETTINGS, ...settings }, { ...QUIET, ...outside });
  if (!channel) throw new Error("the channel is inert");
  return channel;
}

/** Records the inbound messages, and accepts them. */
export function openEars(): { messages: InboundMessage[]; receive: Receive } {
  const messages: InboundMessage[] = [];
  return {
    messages,
    receive: async (one) => {
      messages.push(one);
      return { kind: "accepted", says: "Recorded." };
    },
  };
}

/** A channel that takes mail on an ephemeral port until disposed. */
export async function listening(
  receive: Receive,
  settings: Partial<EmailSettings> = {},
  outside: Partial<EmailOutside> = {},
): Promise<AsyncDisposable & { port: number }> {
  const stop = new AbortController();
  const { promise: port, resolve: onListening } = Promise.withResolvers<number>();
  const channel = openChannel({ listen: "127.0.0.1:0", ...settings }, { ...outside, onListening });
  const ended = channel.inbound?.listen?.(receive, stop.signal);
  return {
    port: await port,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

const CALL: Request = {
  id: "ask_0123456789ABCDEFGHIJKL",
  door: "a2h",
  asker: "key:deploy-bot",
  ref: "call:1",
  title: "deploy",
  words: "",
  form: { kind: "approval", fn: "deploy", kwargs: '{"to":"prod"}', rejectOptions: [], editable: false },
  audience: { kind: "leaf", target: { via: "inbox" } },
  digest: `sha256:${"ab".repeat(32)}`,
  state: "open",
  version: 1,
  createdAt: Date.UTC(2026, 10, 21, 8),
  expiresAt: Date.UTC(2026, 10, 21, 9, 30),
  settledAt: null,
  outcome: null,
  refused: null,
  wire: { run_id: "run-7" },
};

/** Returns the main recipient's target for the mail channel that an agent would have sent. */
export function targetOf(input: Record<string, unknown> = {}): EmailTarget {
  const parsed = parseEmail({ address: ANA, ...input });
  if ("errors" in parsed) throw new Error(JSON.stringify(parsed.errors));
  return parsed.target;
}

export function noticeOf(ask: Partial<Request> = {}, more: Partial<Notice<EmailTarget>> = {}): Notice<EmailTarget> {
  return {
    delivery: DELIVERY,
    target: targetOf(),
    view: viewOf({ ...CALL, ...ask }),
    link: LINK,
    messageName: NAME,
    informsOnly: false,
    code: "7KQ2",
    replyToken: TOKEN,
    whole: true,
    reminder: false,
    opening: null,
    ...more,
  };
}

/** A reply as a mail program writes it; header lines can be replaced, added, or left out by null. */
export function replyMail(text: string, headers: Record<string, string | null> = {}): string {
  const all: Record<string, string | null> = {
    From: `Ana Ruiz <${ANA}>`,
    To: `Parley <ask+${TOKEN}@${DOMAIN}>`,
    Subject: "Re: May deploy run?",
    "Message-ID": `<${(replies += 1)}@people.example>`,
    "In-Reply-To": ORIGINAL,
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=utf-8",
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  return `${lines.join("\r\n")}\r\n\r\n${text.replace(/\n/g, "\r\n")}\r\n`;
}
let replies = 0;

/** How our mail looks below a reply. */
export const QUOTED = `\n\nOn Sat, 21 Nov 2026 at 08:00, Parley <${AGENT}> wrote:\n> The agent deploy-bot asks.\n>\n> Reference: ${DELIVERY}\n`;
