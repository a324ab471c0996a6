import { z } from "zod";
import { isLoopback } from "../lib/network/network.ts";
import type { RelayRules } from "../asks/model/rules.ts";
import { isHostAddressOf, setting, text, whole, yesOrNo } from "./setting.ts";

const MOST = 1_000_000_000;
const FEATURE = { error: "true, false, or a block with jobs (a list of ids, * for anything) or labels" };
const PEOPLE = { error: "false, or a block with default (a person or a group) and public (true or false)" };
const MODEL_WORDS =
  "a provider and a model, such as anthropic/claude-sonnet-4-5; providers are anthropic, openai, google";
const BASE_URL_WORDS = "an https address, or an http address of this computer";
const PRICES = { error: "a block with input and output, in USD for a million tokens" };
const SERVERS = {
  error: "a block of names, each with command (a list) or url, and if need be headers_env, mint (a list)",
};
const TOOLS = { error: "a block of names, each with server and tool, and if need be read_only, timeout_ms, caps_args" };
const name = (words: { error: string }) => z.string(words).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, words);
const words = (error: { error: string }) => z.array(z.string(error).min(1, error), error).min(1, error);

/** The blocks of the Ask/Answer relay (docs/spec/relay.md). */
export const RELAY_SETTINGS = {
  features: z.object({
    phase2AskAnswer: setting(
      z
        .union(
          [
            z.boolean(),
            z.strictObject({
              jobs: z.array(z.string()).optional(),
              labels: z.record(z.string(), z.string()).optional(),
            }),
          ],
          FEATURE,
        )
        .default(true),
      "Whether jobs and their questions are served: true, false, or only those jobs that are named.",
      { aliases: ["PARLEY_PHASE2_ASK_ANSWER"] },
    ),
  }),
  relay: z.object({
    policyFile: setting(
      text("a file").optional(),
      "What is allowed, denied or put to people; written at first start where it is missing.",
      { example: "~/.local/share/parley/policy.yaml" },
    ),
    promptsDir: setting(text("a folder").optional(), "Roles of your own; they stand before those that come along.", {
      example: "~/.local/share/parley/prompts",
    }),
    people: setting(
      z
        .union(
          [z.literal(false), z.strictObject({ default: z.string().min(1).optional(), public: z.boolean().optional() })],
          PEOPLE,
        )
        .default({}),
      "Who answers what machines may not: by default everybody who sees all there is; false for nobody; with public: true, executors may ask the crowd what is no decision.",
    ),
    peopleDeadlineS: setting(
      whole(60, 2_592_000).default(86_400),
      "How long people have where the asker set no deadline, in seconds.",
    ),
    cacheTtlS: setting(whole(60, 2_592_000).default(86_400), "How long a decision may be repeated, in seconds."),
    secrets: setting(
      z.enum(["redact", "reject"], { error: "redact or reject" }).default("redact"),
      "What happens to secrets found in an ask.",
    ),
    askBack: setting(
      z.enum(["people_first", "executor"], { error: "people_first or executor" }).default("people_first"),
      "Who is shown a question that the model has back.",
    ),
    maxAskBackRounds: setting(whole(0, 10).default(1), "Follow-ups to one ask before people are asked instead."),
    policyAdvice: setting(
      yesOrNo().default(false),
      "Whether a model says its opinion of a policy decision that people make.",
    ),
    strictJobs: setting(
      yesOrNo().default(false),
      "Whether a job must have been registered before somebody asks for it.",
    ),
    retentionDays: setting(whole(1, 36_500).default(30), "Days a job and its asks are kept once it has ended."),
    requestsPerSecond: setting(
      whole(1, MOST).default(100),
      "Requests of one principal a second; twice as many at once.",
    ),
    pendingPerJob: setting(whole(1, MOST).default(100), "Asks of one job open at a time."),
    pendingPerAgent: setting(whole(1, MOST).default(1000), "Asks of one principal open at a time."),
  }),
  runner: z.object({
    model: setting(
      z
        .string({ error: MODEL_WORDS })
        .regex(/^(anthropic|openai|google|openai-compatible)\/\S+$/, { error: MODEL_WORDS })
        .optional(),
      "Model that may answer before people are asked; without it there is none.",
      { example: "anthropic/claude-sonnet-4-5" },
    ),
    baseUrl: setting(
      z.string({ error: BASE_URL_WORDS }).refine(isModelAddress, { error: BASE_URL_WORDS }).optional(),
      "Where the model is, if not at its provider.",
      { example: "http://127.0.0.1:11434/v1" },
    ),
    apiKeyEnv: setting(
      text("the name of an environment variable")
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "the name of an environment variable" })
        .optional(),
      "Environment variable that holds the provider's key; left out, the provider's usual one.",
      { example: "ANTHROPIC_API_KEY" },
    ),
    temperature: setting(
      z.number({ error: "a number from 0 to 2" }).min(0).max(2).default(0),
      "How freely the model chooses its words.",
    ),
    budgetUsdMonth: setting(
      z.number({ error: "an amount in USD" }).min(0).default(5),
      "What the model may cost in a calendar month, in USD.",
    ),
    prices: setting(
      z.strictObject({ input: z.number().min(0), output: z.number().min(0) }, PRICES).optional(),
      "What a million tokens cost, in USD; left out, two million tokens a month are the limit.",
      { example: "{ input: 3, output: 15 }" },
    ),
  }),
  mcpServers: setting(
    z
      .record(
        name(SERVERS),
        z
          .strictObject(
            {
              command: words(SERVERS).optional(),
              url: z
                .string(SERVERS)
                .refine((url) => isHostAddressOf(url, /^https?:$/), SERVERS)
                .optional(),
              headers_env: z.record(z.string(), z.string()).optional(),
              mint: words(SERVERS).optional(),
            },
            SERVERS,
          )
          .refine((one) => (one.command === undefined) !== (one.url === undefined), SERVERS),
        SERVERS,
      )
      .default({}),
    "Servers whose tools the model may be offered, by name.",
  ),
  tools: setting(
    z
      .record(
        name(TOOLS),
        z.strictObject(
          {
            server: z.string(TOOLS).min(1, TOOLS),
            tool: z.string(TOOLS).min(1, TOOLS),
            read_only: z.boolean(TOOLS).default(false),
            timeout_ms: z.int(TOOLS).min(1).max(60_000).default(15_000),
            caps_args: z.record(z.string(), z.string()).default({}),
          },
          TOOLS,
        ),
        TOOLS,
      )
      .default({}),
    "Tools of those servers, under the names that asks and roles call them.",
  ),
};

function isModelAddress(url: string): boolean {
  if (!isHostAddressOf(url, /^https?:$/)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (protocol === "http:" && (hostname === "localhost" || isLoopback(hostname)));
}

type Relay = z.infer<typeof RELAY_SETTINGS.relay>;
type Feature = z.infer<typeof RELAY_SETTINGS.features.shape.phase2AskAnswer>;

/** Returns the relay's rules that follow from its settings. */
export function relayRulesOf(feature: Feature, relay: Relay): RelayRules {
  const { jobs, labels } = typeof feature === "boolean" ? {} : feature;
  return {
    feature: typeof feature === "boolean" ? feature : { ...(jobs && { jobs }), ...(labels && { labels }) },
    people:
      relay.people === false ? null : { default: relay.people.default ?? null, public: relay.people.public ?? false },
    peopleDeadlineMs: relay.peopleDeadlineS * 1000,
    cacheTtlS: relay.cacheTtlS,
    secrets: relay.secrets,
    askBack: relay.askBack,
    maxAskBackRounds: relay.maxAskBackRounds,
    policyAdvice: relay.policyAdvice,
    strictJobs: relay.strictJobs,
    keptMs: relay.retentionDays * 86_400_000,
    requestsPerSecond: relay.requestsPerSecond,
    pendingPerJob: relay.pendingPerJob,
    pendingPerAgent: relay.pendingPerAgent,
  };
}
