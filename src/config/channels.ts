import { z } from "zod";
import { mailbox } from "../lib/mail-address.ts";
import { isLoopback } from "../lib/network/network.ts";
import { isOwnName } from "../lib/network/reach.ts";
import { GROUP_NAME } from "../requests/model/rules.ts";
import { isAddressRange, isHostAddressOf, isHostAndPort, isOrigin, listOf, setting, text, whole } from "./setting.ts";

const LOOPBACK_WORDS = "an http address of this computer, such as http://127.0.0.1:9000/api/";
const SLACK_USER_WORDS = "the id of a Slack user, such as U2147483697";
const SLACK_APP_WORDS = "an app with app_id (A...), bot_token (xoxb-...), and signing_secret or app_token (xapp-...)";
const tokenOf = (prefix: string) => text(`a token that begins with ${prefix}`).startsWith(prefix);
const slackAppText = () => text(SLACK_APP_WORDS);
const SlackAppEntry = z
  .strictObject(
    {
      app_id: slackAppText().regex(/^A[A-Z0-9]{2,}$/, { error: SLACK_APP_WORDS }),
      bot_token: slackAppText().startsWith("xoxb-", { error: SLACK_APP_WORDS }),
      signing_secret: slackAppText().optional(),
      app_token: slackAppText().startsWith("xapp-", { error: SLACK_APP_WORDS }).optional(),
    },
    { error: SLACK_APP_WORDS },
  )
  .transform((app) => ({
    appId: app.app_id,
    botToken: app.bot_token,
    signingSecret: app.signing_secret,
    appToken: app.app_token,
  }));
const PUSH_SUBJECT_WORDS =
  "a mailto: or https: address that others can reach: Apple's push service refuses each message with one of this computer";
const TARGETS = {
  error:
    "a block of names, each with url, secret (whsec_...) and humans (numbers of people, as parley people list shows them, " +
    "or names of people.groups)",
};
/** A person by number, which YAML reads as one. */
const PERSON = z
  .union([z.int(), z.string()], TARGETS)
  .transform(String)
  .pipe(z.string().regex(/^[1-9]\d{0,14}$/, TARGETS));
const phoneNumber = () => z.string().regex(/^\+[1-9]\d{6,14}$/, { error: 'a number such as "+4930901820", in quotes' });
const SMTP_WORDS = "an smtp or smtps address, such as smtp://user:secret@mail.example.com:587";
const IMAP_WORDS = "an imap or imaps address, such as imaps://user:secret@mail.example.com/INBOX";
const FROM_WORDS = "a mail address, such as Parley <parley@example.com>";
const LISTEN_WORDS = "an address and a port, such as 127.0.0.1:2525";

/** The blocks of the ways to reach people. */
export const CHANNEL_SETTINGS = {
  push: z.object({
    subject: setting(
      z
        .string({ error: PUSH_SUBJECT_WORDS })
        .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, { error: PUSH_SUBJECT_WORDS })
        .refine((subject) => !isOwnName(hostOfSubject(subject)), { error: PUSH_SUBJECT_WORDS })
        .optional(),
      "Whom a push service can complain to; left out, the public address where that is https.",
      { example: "mailto:parley@example.com" },
    ),
    lockScreen: setting(
      z.enum(["sentence", "subject", "nothing"]).default("subject"),
      "What devices show of what a person is asked: who asks, what kind it is and its subject, also what a call would do, or only that something waits.",
    ),
    fcmKeyFile: setting(
      text("a file").optional(),
      "Key of a Google service account, for devices that subscribe with an FCM token.",
      { example: "~/firebase-key.json" },
    ),
  }),
  twilio: z.object({
    accountSid: setting(
      z
        .string()
        .regex(/^AC[0-9a-f]{32}$/, { error: "AC and 32 hexadecimal digits" })
        .optional(),
      "Account that sends text messages; without it, its token, a sender, and countries, there are none.",
      { example: "AC0123456789abcdef0123456789abcdef" },
    ),
    authToken: setting(text("a token").optional(), "Token of that account.", {
      secret: true,
      example: "0123456789abcdef0123456789abcdef",
    }),
    smsFrom: setting(phoneNumber().optional(), "Number that text messages come from.", { example: '"+4930901820"' }),
    whatsappFrom: setting(phoneNumber().optional(), "Number that WhatsApp messages come from.", {
      example: '"+4930901820"',
    }),
    whatsappTemplateSid: setting(
      z
        .string()
        .regex(/^HX[0-9a-f]{32}$/, { error: "HX and 32 hexadecimal digits" })
        .optional(),
      "Approved template for people who have not written within a day.",
      { example: "HX0123456789abcdef0123456789abcdef" },
    ),
    countries: setting(
      listOf(text("a prefix").regex(/^\+[1-9]\d{0,6}$/, { error: 'a prefix such as "+49", in quotes' })).default([]),
      "Prefixes of the numbers that may be sent to; every message costs money.",
    ),
    apiUrl: setting(
      text("an address").refine(isLoopbackOrigin, { error: "an http address of this machine" }).optional(),
      "Another server in place of Twilio's, for trying things out; on this machine only.",
      { example: "http://127.0.0.1:4010" },
    ),
  }),
  webhooks: z.object({
    allow: setting(
      listOf(
        text("an exception").refine(isAllowance, { error: "a host and port such as hooks.internal:8443, or a range" }),
      ).default([]),
      "Where outgoing webhooks may go beyond https on the internet: host:port, or an address range.",
    ),
  }),
  webhookTargets: setting(
    z
      .record(
        z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, TARGETS),
        z.strictObject(
          {
            url: z.string(TARGETS).refine((url) => isHostAddressOf(url, /^https?:$/), TARGETS),
            secret: z.string(TARGETS).regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, TARGETS),
            humans: z.array(z.union([PERSON, z.string().regex(GROUP_NAME)], TARGETS), TARGETS).min(1, TARGETS),
          },
          TARGETS,
        ),
        TARGETS,
      )
      .optional(),
    "Programs of yours that pass requests on to people and bring answers back, by name.",
    {
      secret: true,
      example: "{ desk: { url: https://desk.example.com/parley, secret: whsec_..., humans: [1] } }",
    },
  ),
  slack: z.object({
    botToken: setting(
      tokenOf("xoxb-").optional(),
      "Token of the Slack app that asks people (xoxb-...); without it there is no Slack.",
      { secret: true, example: "xoxb-..." },
    ),
    appToken: setting(
      tokenOf("xapp-").optional(),
      "Token for Socket Mode (xapp-...): answers come in without a public address.",
      { secret: true, example: "xapp-..." },
    ),
    signingSecret: setting(
      text("the signing secret of the app").optional(),
      "Signing secret of the app: answers come in by HTTP at the public address.",
      { secret: true, example: "8f742231b10e8888abcd99yyyzzz85a5" },
    ),
    defaultUser: setting(
      text(SLACK_USER_WORDS)
        .regex(/^[UW][A-Z0-9]{2,}$/, { error: SLACK_USER_WORDS })
        .optional(),
      "Whom an agent reaches that names nobody on Slack.",
      { example: "U2147483697" },
    ),
    channelApprovers: setting(
      z.enum(["enrolled", "members"], { error: "one of enrolled, members" }).default("enrolled"),
      "Who may approve in a channel without a list of names: enrolled people, or every full member of the workspace.",
    ),
    apps: setting(
      z.array(SlackAppEntry, { error: "a list of apps" }).default([]),
      "Further apps with whose tokens agents may ask, each with app_id, bot_token, and signing_secret or app_token.",
      { secret: true },
    ),
    apiUrl: setting(
      z.string({ error: LOOPBACK_WORDS }).refine(isLoopbackUrl, { error: LOOPBACK_WORDS }).optional(),
      "Where a stand-in for Slack's Web API listens, for tests of the whole program.",
      { example: "http://127.0.0.1:9000/api/" },
    ),
  }),
  email: z.object({
    smtpUrl: setting(
      z
        .string({ error: SMTP_WORDS })
        .refine((url) => isHostAddressOf(url, /^smtps?:$/), { error: SMTP_WORDS })
        .optional(),
      "Mail server that sends; without it and an address to write from there is no mail.",
      { aliases: ["PARLEY_SMTP_URL"], secret: true, example: "smtp://parley:secret@mail.example.com:587" },
    ),
    from: setting(
      text(FROM_WORDS)
        .refine((from) => mailbox(from) !== undefined, { error: FROM_WORDS })
        .optional(),
      "Address that mail comes from.",
      { example: "Parley <parley@example.com>" },
    ),
    domain: setting(
      text("a domain")
        .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, { error: "a domain in lower case" })
        .optional(),
      "Domain of the addresses that replies go to (ask+...@); left out, that of the address above.",
      { example: "example.com" },
    ),
    listen: setting(
      text(LISTEN_WORDS).refine(isHostAndPort, { error: LISTEN_WORDS }).optional(),
      "Takes replies by SMTP at this address, for this server's own addresses only.",
      { example: "127.0.0.1:2525" },
    ),
    certFile: setting(text("a file").optional(), "Certificate for STARTTLS there, as PEM.", {
      example: "/etc/parley/mail.pem",
    }),
    keyFile: setting(text("a file").optional(), "Key of that certificate, as PEM.", {
      example: "/etc/parley/mail.key",
    }),
    imapUrl: setting(
      z
        .string({ error: IMAP_WORDS })
        .refine((url) => isHostAddressOf(url, /^imaps?:$/), { error: IMAP_WORDS })
        .optional(),
      "Mailbox, this server's own, that replies are read from.",
      { aliases: ["PARLEY_IMAP_URL"], secret: true, example: "imaps://parley:secret@mail.example.com/INBOX" },
    ),
    hookSecret: setting(
      text("a secret")
        .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, { error: "whsec_ and at least 24 bytes in base64" })
        .optional(),
      "Secret under which another server passes mails on to /hooks/email.",
      { secret: true, example: "whsec_..." },
    ),
    templates: setting(
      z.enum(["off", "text", "sanitized"], { error: "one of off, text, sanitized" }).default("off"),
      "What becomes of an agent's HTML template: nothing, its words, or its words as paragraphs, lists and tables.",
    ),
    approveByReply: setting(
      z.enum(["verified", "never"], { error: "one of verified, never" }).default("verified"),
      "Whether a reply approves, where its sender's domain signed it; any other approval happens on the page.",
    ),
    trustedAuthservIds: setting(
      listOf(text("a name")).default([]),
      "Mail servers of yours whose Authentication-Results are believed; they must remove foreign ones of their name.",
    ),
    mailsPerSender: setting(
      whole(1, 1_000_000).default(120),
      "Mails of one sender that are read an hour; all unknown senders together have ten times as many.",
    ),
    readingSecondsPerSender: setting(
      whole(1, 3600).default(60),
      "Seconds of a processor that reading the mails of one sender may take an hour; of all unknown senders, ten times that.",
    ),
  }),
};

function isLoopbackOrigin(url: string): boolean {
  if (!isOrigin(url)) return false;
  const { hostname } = new URL(url);
  return hostname === "localhost" || isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

function isAllowance(text: string): boolean {
  return isAddressRange(text) || isHostAndPort(text);
}

/** Returns the host of a `mailto:` or `https:` address; an empty text where it has none. */
function hostOfSubject(subject: string): string {
  if (subject.startsWith("mailto:")) return subject.slice(subject.lastIndexOf("@") + 1);
  return URL.canParse(subject) ? new URL(subject).hostname : "";
}

/** Tokens go to this address: it must be nobody else's. */
function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && (hostname === "localhost" || isLoopback(hostname.replace(/^\[|\]$/g, "")));
}
