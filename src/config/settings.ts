import { z } from "zod";
import { whyOthersReach } from "../lib/network/reach.ts";
import { type RequestRules, DEFAULT_ADDRESSED_RULES } from "../requests/model/rules.ts";
import { type CrowdRules, DEFAULT_CROWD_RULES } from "../questions/model/rules.ts";
import {
  isAddressRange,
  isHost,
  isHostAddressOf,
  isOrigin,
  isPostgresAddress,
  listOf,
  setting,
  text,
  whole,
  yesOrNo,
} from "./setting.ts";
import { ASSIGNMENT_SETTINGS, assignmentRulesOf } from "./assignment.ts";
import { CHANNEL_SETTINGS } from "./channels.ts";
import { CONVERSATION_SETTINGS, entryPointsOf } from "./conversations.ts";
import { GATE_SETTINGS } from "./gate.ts";
import { PEOPLE_SETTINGS } from "./people.ts";
import { RELAY_SETTINGS, relayRulesOf } from "./relay.ts";

const ORIGIN_WORDS = "an http or https address without a path";
const HOST_WORDS = "an address or host name, without a port";
const POSTGRES_WORDS = "a postgres:// address, in which a #, / or ? of the password is written as %23, %2F or %3F";
const COLLECTOR_WORDS = "an http or https address";
const CANARY_WORDS = "a text of at least 8 characters";
const MOST = 1_000_000_000;

const DAY_MS = 86_400_000;

const rules = DEFAULT_CROWD_RULES;
const addressed = DEFAULT_ADDRESSED_RULES;

/** Every setting, its default, and what is accepted; keys are written in snake case in the file and the environment. */
export const Settings = z.object({
  host: setting(
    z.string({ error: HOST_WORDS }).refine(isHost, { error: HOST_WORDS }).default("127.0.0.1"),
    "Address to listen on; on any but a loopback address nobody is let in without a key or a sign-in.",
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
    "Address at which people and agents reach this server; links and the accepted host name come from it. One that is not this computer's own ends open mode.",
    { example: "http://127.0.0.1:3415" },
  ),
  databaseUrl: setting(
    z.string({ error: POSTGRES_WORDS }).refine(isPostgresAddress, { error: POSTGRES_WORDS }).optional(),
    "PostgreSQL instead of SQLite; several servers may share one.",
    { aliases: ["DATABASE_URL"], secret: true, example: "postgres://parley:secret@db.internal/parley" },
  ),
  databaseListenUrl: setting(
    z.string({ error: POSTGRES_WORDS }).refine(isPostgresAddress, { error: POSTGRES_WORDS }).optional(),
    "The same database without the pooler, where database_url names one that shares sessions, as PgBouncer does with pool_mode = transaction.",
    { aliases: ["DATABASE_LISTEN_URL"], secret: true, example: "postgres://parley:secret@db-1.internal/parley" },
  ),
  databaseWaitMs: setting(
    whole(200, 600_000).default(1800),
    "Longest time one read or write waits for PostgreSQL, in milliseconds; then it is refused with 503 and Retry-After.",
  ),
  keyFile: setting(
    text("a file").optional(),
    "The installation key, made at first start; servers that share a database share it.",
    { example: "~/.local/share/parley/installation.key" },
  ),
  open: setting(
    yesOrNo().optional(),
    "Whether agents may ask without a key: true for whoever reaches the server; left out, only programs of this computer.",
    {
      example: "true",
    },
  ),
  hosts: setting(
    listOf(
      text("a host name")
        .regex(/^([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])$/, { error: "a host name without a port" })
        .toLowerCase(),
    ).default([]),
    "Further names in the Host header that are answered; any but loopback names end open mode.",
  ),
  trustedProxies: setting(
    listOf(
      text("an address range").refine(isAddressRange, { error: "an address or a range such as 10.0.0.0/8" }),
    ).default([]),
    "Proxies whose X-Forwarded-For is believed; naming one ends open mode.",
  ),
  waitCapS: setting(whole(1, 60).default(25), "Longest time one long-poll is held, in seconds.", {
    aliases: ["PARLEY_RELAY_WAIT_S", "ASK_ANSWER_WAIT_SEC"],
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
  people: PEOPLE_SETTINGS,
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
    recipients: setting(
      z.enum(["any", "enrolled", "listed"], { error: "any, enrolled or listed" }).optional(),
      "Whom agents may ask by an address: any, enrolled (recipient_patterns too) or listed; left out, any until others than the operator are enrolled.",
      { example: "enrolled" },
    ),
    recipientPatterns: setting(
      listOf(text("an address, a number or a Slack ID, with * for anything")).default([]),
      "Addresses, numbers and Slack IDs, with * for anything, such as *@example.com.",
    ),
    ...CONVERSATION_SETTINGS,
  }),
  delivery: z.object({
    fallbackSeconds: setting(
      whole(1, 86_400).default(addressed.fallbackMs / 1000),
      "Without an answer for so long, the next of a person's channels is tried.",
    ),
    messagesPerHour: setting(
      whole(1, MOST).default(addressed.messagesPerHour),
      "Messages to one recipient on one channel, and to one device, an hour; one more says how many requests wait.",
    ),
    recipientsPerHour: setting(
      whole(1, MOST).default(addressed.recipientsPerHour),
      "Recipients that one agent writes to an hour; messages to others wait.",
    ),
  }),
  inbox: z.object({
    undoSeconds: setting(
      whole(0, 60).default(addressed.undoMs / 1000),
      "Seconds in which a person can undo a decision of low or normal risk that they pressed in the app; 0 makes it at once.",
    ),
  }),
  crowd: z.object({
    public: setting(
      yesOrNo().optional(),
      "Whether strangers may read and answer questions here; a server that only this computer reaches always lets it.",
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
    canaries: setting(
      listOf(z.string({ error: CANARY_WORDS }).min(8, { error: CANARY_WORDS })).default([]),
      "Texts that count as secrets wherever they turn up, such as a made-up record in a database.",
      { secret: true },
    ),
  }),
  ...CHANNEL_SETTINGS,
  ...RELAY_SETTINGS,
  ...GATE_SETTINGS,
  ...ASSIGNMENT_SETTINGS,
  policy: z.object({
    grantDays: setting(
      whole(1, 3650).default(30),
      "Days for which something is allowed that an admin allows for good.",
    ),
    learnAfter: setting(
      whole(0, 1000).default(3),
      "Approvals of the same thing within 30 days after which a rule for it is proposed; 0 proposes none.",
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
  telemetry: z.object({
    otlpUrl: setting(
      z
        .string({ error: COLLECTOR_WORDS })
        .refine((url) => isHostAddressOf(url, /^https?:$/), { error: COLLECTOR_WORDS })
        .optional(),
      "OpenTelemetry collector that is sent traces, as OTLP over HTTP at /v1/traces below it; without it none are made.",
      { aliases: ["OTEL_EXPORTER_OTLP_ENDPOINT"], example: "http://127.0.0.1:4318" },
    ),
    serviceName: setting(text("a name").default("parley"), "What this server is called in traces.", {
      aliases: ["OTEL_SERVICE_NAME"],
    }),
    headersEnv: setting(
      text("the name of an environment variable").default("OTEL_EXPORTER_OTLP_HEADERS"),
      "Environment variable with headers for the collector, such as a key: name=value, name=value.",
    ),
  }),
});

/** The settings in force, with what follows from them. */
export const ConfigSchema = Settings.transform(({ askAHuman, a2h, delivery, inbox, crowd, limits, ...rest }) => {
  const { answersPerNetworkPerHour, newParticipantsPerHour, pushRegistrationsPerHour, ...serverLimits } = limits;
  const crowdRules: CrowdRules = {
    points: askAHuman.points,
    retention: askAHuman.retention,
    limits: {
      ...askAHuman.limits,
      answersPerNetworkPerHour,
      newParticipantsPerHour,
      pushRegistrationsPerHour,
    },
  };
  const addressedRules: RequestRules = {
    createsPerMinute: a2h.createsPerMinute,
    pendingPerAgent: a2h.pendingPerAgent,
    approvalTimeoutSeconds: a2h.approvalTimeoutSeconds,
    fallbackMs: delivery.fallbackSeconds * 1000,
    messagesPerHour: delivery.messagesPerHour,
    recipientsPerHour: delivery.recipientsPerHour,
    keptMs: a2h.retentionDays * DAY_MS,
    undoMs: inbox.undoSeconds * 1000,
    slackMembersApprove: rest.slack.channelApprovers === "members",
    grantDays: rest.policy.grantDays,
    // Who they are is known to the store: a server looks them up when it starts.
    groups: new Map(),
    recipients: { whom: a2h.recipients ?? null, patterns: a2h.recipientPatterns },
  };
  return {
    ...rest,
    addressed: addressedRules,
    conversations: { entryPoints: entryPointsOf(a2h.entryPoints) },
    /** Channels that have a name here, and the usual one. */
    contacts: { channels: a2h.channels ?? {}, defaultChannel: a2h.defaultChannel },
    /** Nothing here says that others than the programs and people of this computer reach it. */
    loopbackOnly: whyOthersReach(rest) === null,
    publicUrl: rest.publicUrl ?? `http://127.0.0.1:${rest.port}`,
    /** The URL that others on the internet can call; undefined where the settings name none. */
    callableUrl: rest.publicUrl,
    keyFile: rest.keyFile ?? `${rest.dataDir}/installation.key`,
    relayRules: relayRulesOf(rest.features.phase2AskAnswer, rest.relay),
    assignment: assignmentRulesOf(rest, rest.dataDir),
    relay: {
      ...rest.relay,
      policyFile: rest.relay.policyFile ?? `${rest.dataDir}/policy.yaml`,
      promptsDir: rest.relay.promptsDir ?? `${rest.dataDir}/prompts`,
    },
    crowd: { public: crowd.public ?? askAHuman.crowd.public ?? false, rules: crowdRules },
    notify: askAHuman.notify,
    limits: serverLimits,
  };
});
