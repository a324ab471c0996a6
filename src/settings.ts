import { isIP } from "node:net";
import { z } from "zod";
import { isLoopback } from "./lib/network.ts";
import { type AddressedRules, DEFAULT_ADDRESSED_RULES } from "./model/addressed-rules.ts";
import { type CrowdRules, DEFAULT_CROWD_RULES } from "./model/crowd-rules.ts";

/** What a setting carries beside its type: why it is there, and where else it may come from. */
export interface SettingNote {
  why: string;
  /** Stands in the example file where there is no fixed default. */
  example?: string;
  /** Environment variables other than the generated one. */
  aliases?: readonly string[];
  /** Also read from the file that `<VARIABLE>_FILE` names, and never echoed. */
  secret?: boolean;
}

/** The notes of every setting. */
export const settingNotes = z.registry<SettingNote>();

function setting<T extends z.ZodType>(schema: T, why: string, more: Omit<SettingNote, "why"> = {}): T {
  settingNotes.add(schema, { why, ...more });
  return schema;
}

// Each message continues the sentence "NAME must be ...".
function whole(least: number, most: number): z.ZodNumber {
  const error = `a whole number between ${least} and ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}
const yesOrNo = () => z.boolean({ error: "true or false" });
const text = (error: string) => z.string({ error }).min(1, { error });
const listOf = (item: z.ZodString) => z.array(item, { error: "a list" });
const ORIGIN_WORDS = "an http or https address without a path";
const LOOPBACK_WORDS = "an http address of this computer, such as http://127.0.0.1:9000/api/";
const SLACK_USER_WORDS = "the id of a Slack user, such as U2147483697";
const SLACK_APP_WORDS = "an app with app_id (A...), bot_token (xoxb-...), and signing_secret or app_token (xapp-...)";
const MOST = 1_000_000_000;

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
const PUSH_SUBJECT_WORDS = "a mailto: or https: address";
const TARGETS = { error: "a block of names, each with url, secret (whsec_...) and humans (ids of people)" };
const phoneNumber = () => z.string().regex(/^\+[1-9]\d{6,14}$/, { error: 'a number such as "+4930901820", in quotes' });
const DAY_MS = 86_400_000;

const rules = DEFAULT_CROWD_RULES;
const addressed = DEFAULT_ADDRESSED_RULES;

/** Every setting, its default, and what is accepted; keys are written in snake case in the file and the environment. */
export const Settings = z.object({
  host: setting(
    text("an address or host name").default("127.0.0.1"),
    "Address to listen on; on any but a loopback address open mode and the key-less crowd are off.",
  ),
  port: setting(whole(0, 65_535).default(3415), "Port to listen on; 0 takes any free one.", {
    aliases: ["ASK_ANSWER_PORT"],
  }),
  dataDir: setting(text("a folder"), "Folder for the database and the installation key, private to the server.", {
    example: "~/.local/share/parley",
  }),
  publicUrl: setting(
    z
      .string({ error: ORIGIN_WORDS })
      .refine(isOrigin, { error: ORIGIN_WORDS })
      .transform((url) => new URL(url).origin)
      .optional(),
    "Address at which people and agents reach this server; links and the accepted host name come from it.",
    { example: "http://127.0.0.1:3415" },
  ),
  databaseUrl: setting(
    z
      .string({ error: "a postgres:// address" })
      .regex(/^postgres(ql)?:\/\//, { error: "a postgres:// address" })
      .optional(),
    "PostgreSQL instead of SQLite; several servers may share one.",
    { aliases: ["DATABASE_URL"], secret: true, example: "postgres://parley:secret@db.internal/parley" },
  ),
  keyFile: setting(
    text("a file").optional(),
    "The installation key, made at first start; servers that share a database share it.",
    { example: "~/.local/share/parley/installation.key" },
  ),
  open: setting(yesOrNo().optional(), "Whether agents may ask without a key; left out, only while bound to loopback.", {
    example: "true",
  }),
  hosts: setting(
    listOf(
      text("a host name")
        .regex(/^([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])$/, { error: "a host name without a port" })
        .toLowerCase(),
    ).default([]),
    "Further names in the Host header that are answered.",
  ),
  trustedProxies: setting(
    listOf(
      text("an address range").refine(isAddressRange, { error: "an address or a range such as 10.0.0.0/8" }),
    ).default([]),
    "Proxies whose X-Forwarded-For is believed.",
  ),
  waitCapS: setting(whole(1, 60).default(25), "Longest time one long-poll is held, in seconds.", {
    aliases: ["ASK_ANSWER_WAIT_SEC"],
  }),
  sseHeartbeatS: setting(whole(1, 300).default(10), "Pause between two heartbeats on an event stream, in seconds.", {
    aliases: ["ASK_ANSWER_SSE_HEARTBEAT_SEC"],
  }),
  askAHuman: z.object({
    points: z.object({
      text: setting(whole(0, 1000).default(rules.points.text), "Points for answering a text question."),
      multipleChoice: setting(whole(0, 1000).default(rules.points.multipleChoice), "Points for choosing an option."),
      bonuses: setting(
        yesOrNo().default(rules.points.bonuses),
        "Extra points for confidence, thought, speed, demand and streaks.",
      ),
      dailyCap: setting(whole(0, MOST).default(rules.points.dailyCap), "Most points a person earns in a UTC day."),
    }),
    retention: z.object({
      closedDays: setting(whole(1, 36_500).default(rules.retention.closedDays), "Days an answered question is kept."),
      expiredDays: setting(whole(1, 36_500).default(rules.retention.expiredDays), "Days an expired question is kept."),
    }),
    limits: z.object({
      questionsPerHour: setting(whole(1, MOST).default(rules.limits.questionsPerHour), "Questions of one agent."),
      openQuestions: setting(
        whole(1, MOST).default(rules.limits.openQuestions),
        "Questions of one agent open at a time.",
      ),
      agentReadsPerHour: setting(
        whole(1, MOST).default(rules.limits.agentReadsPerHour),
        "Reads of one agent; a long-poll or a stream counts once.",
      ),
      answersPerHour: setting(whole(1, MOST).default(rules.limits.answersPerHour), "Answers of one participant."),
      humanReadsPerHour: setting(whole(1, MOST).default(rules.limits.humanReadsPerHour), "Reads of one participant."),
    }),
    crowd: z.object({
      public: setting(yesOrNo().optional(), "The same as crowd.public below.", { example: "false" }),
    }),
    notify: z.object({
      catchUpMinutes: setting(
        whole(1, 1440).default(15),
        "Pause before others are told of a question that still lacks answers.",
      ),
      factor: setting(whole(1, 100).default(3), "People told for each missing answer."),
    }),
  }),
  a2h: z.object({
    approvalTimeoutSeconds: setting(
      whole(10, 2_592_000).default(addressed.approvalTimeoutSeconds),
      "Deadline of an approval whose agent names none; unanswered, it counts as rejected.",
    ),
    createsPerMinute: setting(whole(1, MOST).default(addressed.createsPerMinute), "Requests of one agent a minute."),
    pendingPerAgent: setting(
      whole(1, MOST).default(addressed.pendingPerAgent),
      "Requests of one agent open at a time.",
    ),
    retentionDays: setting(
      whole(1, 36_500).default(addressed.keptMs / DAY_MS),
      "Days a request to people is kept once it is over.",
    ),
  }),
  delivery: z.object({
    fallbackSeconds: setting(
      whole(1, 86_400).default(addressed.fallbackMs / 1000),
      "Without an answer for so long, the next of a person's channels is tried.",
    ),
  }),
  crowd: z.object({
    public: setting(
      yesOrNo().optional(),
      "Whether strangers may read and answer questions here; a server bound to loopback always lets this computer.",
      { example: "false" },
    ),
  }),
  cors: z.object({
    origins: setting(
      listOf(text("an origin").refine(isOrigin, { error: "an origin such as https://app.example.com" })).default([]),
      "Pages of other origins that may call the API, never with cookies.",
    ),
  }),
  limits: z.object({
    edgePerSecond: setting(whole(1, MOST).default(100), "Requests of one address a second."),
    edgeBurst: setting(whole(1, MOST).default(500), "Requests of one address at once."),
    longPolls: setting(whole(1, MOST).default(200), "Long-polls of one agent at one time."),
    streams: setting(whole(1, MOST).default(20), "Event streams of one agent at one time."),
    humanStreams: setting(whole(1, MOST).default(50), "Event streams of people from one address at one time."),
    answersPerNetworkPerHour: setting(
      whole(1, MOST).default(rules.limits.answersPerNetworkPerHour),
      "Answers from one network (/24 or /48).",
    ),
    newParticipantsPerHour: setting(
      whole(1, MOST).default(rules.limits.newParticipantsPerHour),
      "New participants from one network.",
    ),
    pushRegistrationsPerHour: setting(
      whole(1, MOST).default(rules.limits.pushRegistrationsPerHour),
      "Push registrations from one address.",
    ),
  }),
  push: z.object({
    subject: setting(
      z
        .string({ error: PUSH_SUBJECT_WORDS })
        .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, { error: PUSH_SUBJECT_WORDS })
        .optional(),
      "Whom a push service can complain to; left out, the public address where that is https.",
      { example: "mailto:parley@example.com" },
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
            url: z.string(TARGETS).refine((url) => URL.canParse(url), TARGETS),
            secret: z.string(TARGETS).regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, TARGETS),
            humans: z.array(z.string(TARGETS).min(1, TARGETS), TARGETS).min(1, TARGETS),
          },
          TARGETS,
        ),
        TARGETS,
      )
      .optional(),
    "Programs of yours that pass requests on to people and bring answers back, by name.",
    {
      secret: true,
      example: "{ desk: { url: https://desk.example.com/parley, secret: whsec_..., humans: [operator] } }",
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
  log: z.object({
    level: setting(
      z
        .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"], {
          error: "one of fatal, error, warn, info, debug, trace, silent",
        })
        .default("info"),
      "The least important line that is logged.",
    ),
  }),
});

/** The settings in force, with what follows from them. */
export const ConfigSchema = Settings.transform(({ askAHuman, a2h, delivery, crowd, limits, ...rest }) => {
  const loopbackOnly = rest.host === "localhost" || isLoopback(rest.host);
  const { answersPerNetworkPerHour, newParticipantsPerHour, pushRegistrationsPerHour, ...serverLimits } = limits;
  const crowdRules: CrowdRules = {
    points: askAHuman.points,
    retention: askAHuman.retention,
    limits: { ...askAHuman.limits, answersPerNetworkPerHour, newParticipantsPerHour, pushRegistrationsPerHour },
  };
  const addressedRules: AddressedRules = {
    createsPerMinute: a2h.createsPerMinute,
    pendingPerAgent: a2h.pendingPerAgent,
    approvalTimeoutSeconds: a2h.approvalTimeoutSeconds,
    fallbackMs: delivery.fallbackSeconds * 1000,
    keptMs: a2h.retentionDays * DAY_MS,
  };
  return {
    ...rest,
    addressed: addressedRules,
    /** Only programs and people of this computer can connect. */
    loopbackOnly,
    /** Agents may ask without a key. */
    open: rest.open ?? loopbackOnly,
    publicUrl: rest.publicUrl ?? `http://127.0.0.1:${rest.port}`,
    keyFile: rest.keyFile ?? `${rest.dataDir}/installation.key`,
    crowd: { public: crowd.public ?? askAHuman.crowd.public ?? false, rules: crowdRules },
    notify: askAHuman.notify,
    limits: serverLimits,
  };
});

function isOrigin(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && pathname === "/" && !search && !hash && !username && !password;
}

function isLoopbackOrigin(url: string): boolean {
  if (!isOrigin(url)) return false;
  const { hostname } = new URL(url);
  return hostname === "localhost" || isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

function isAllowance(text: string): boolean {
  return isAddressRange(text) || /^([a-z0-9_.-]+|\[[0-9a-f:.]+\]):\d{1,5}$/.test(text);
}

/** Tokens go to this address: it must be nobody else's. */
function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && (hostname === "localhost" || isLoopback(hostname.replace(/^\[|\]$/g, "")));
}

function isAddressRange(range: string): boolean {
  const [address = "", bits, more] = range.split("/");
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
