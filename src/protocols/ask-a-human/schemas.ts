import { z } from "zod";
import { TAGS } from "../../model/ask.ts";
import type { FieldProblem } from "../../model/field-problem.ts";
import { lengthOf } from "../../model/field-problem.ts";
import { REPORT_REASONS } from "../../verbs/mark-question.ts";
import {
  booleanField,
  checkedField,
  fields,
  idField,
  integerField,
  laterField,
  optional,
  textField,
  wordField,
  wordsField,
} from "../door-fields.ts";
import { checkOptions, promptField, QUESTION_TYPES, questionFields, typeField } from "../door-new-question.ts";

const problemAt = (message: string, field: string, constraint: string): FieldProblem => ({
  message,
  field,
  constraint,
});

/** What an agent sends (contract-ask-a-human.md, section 3.1). */
export const NewQuestion = fields({
  prompt: promptField("prompt"),
  type: typeField,
  ...questionFields,
  idempotency_key: optional(textField("idempotency_key", 1, 255)),
  share_results: optional(booleanField("share_results", { default: true })),
}).superRefine(checkOptions);

/** What a person sends; the answer itself is checked against the question (section 4.4). */
export const NewResponse = fields({
  question_id: idField("question_id"),
  answer: laterField({ type: "string", minLength: 1, maxLength: 5000 }),
  selected_option: laterField({ type: "integer", minimum: 0 }),
  confidence: laterField({ type: "integer", minimum: 1, maximum: 5 }),
});

const time = z.string().meta({ format: "date-time" });
const tags = z.array(z.enum(TAGS));
const status = z.enum(["OPEN", "PARTIAL", "CLOSED", "EXPIRED"]);

export const QuestionReceipt = z.object({
  question_id: z.string(),
  status,
  poll_url: z.string(),
  expires_at: time,
  created_at: time,
});

const GivenResponse = z.object({
  answer: z.string().optional(),
  selected_option: z.int().optional(),
  confidence: z.int().optional(),
  response_id: z.string().optional(),
  created_at: time.optional(),
  tier: z.enum(["anonymous", "returning", "named"]).optional(),
});

export const PollBody = z.object({
  question_id: z.string(),
  status,
  prompt: z.string(),
  type: z.enum(QUESTION_TYPES),
  options: z.array(z.string()).optional(),
  audience: tags,
  required_responses: z.int(),
  current_responses: z.int(),
  created_at: time,
  expires_at: time,
  closed_at: time.optional(),
  expired_at: time.optional(),
  cancelled: z.literal(true).optional(),
  responses: z.array(GivenResponse),
  summary: z.record(z.string(), z.int()).optional(),
  integrity: z.object({ networks: z.int(), participants: z.int() }).optional(),
});

export const QuestionPage = z.object({
  questions: z.array(PollBody),
  not_found: z.array(z.string()).optional(),
  next_cursor: z.string().nullable().optional(),
});

const FeedQuestion = z.object({
  question_id: z.string(),
  prompt: z.string(),
  type: z.enum(QUESTION_TYPES),
  options: z.array(z.string()).optional(),
  audience: tags,
  responses_needed: z.int(),
  created_at: time,
  expires_at: time,
  points: z.int(),
});

export const Feed = z.object({
  questions: z.array(FeedQuestion),
  next_cursor: z.string().nullable(),
  last_created_at: time.nullable(),
});

export const QuestionForPerson = FeedQuestion.extend({
  can_answer: z.boolean(),
  reason: z.literal("already_answered").optional(),
});

export const ResponseReceipt = z.object({
  response_id: z.string(),
  points_earned: z.int(),
  new_badges: z.array(z.string()),
  total_points: z.int(),
  points_breakdown: z.record(z.string(), z.int()),
  streak_days: z.int(),
});

export const Results = z.object({
  question_id: z.string(),
  status,
  required_responses: z.int(),
  current_responses: z.int(),
  summary: z.record(z.string(), z.int()).optional(),
  responses: z.array(GivenResponse).optional(),
});

export const NewReport = fields({
  reason: wordField("reason", REPORT_REASONS),
  comment: optional(textField("comment", 0, 500)),
});

function base64Bytes(text: unknown): number {
  return typeof text === "string" && /^[\w-]+=*$/.test(text) ? Buffer.from(text, "base64url").length : 0;
}

function subscriptionProblems(value: unknown): FieldProblem[] {
  const at = "subscription";
  if (typeof value !== "object" || value === null) return [problemAt(`${at} must be an object`, at, "type")];
  const { endpoint, keys } = value as { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } };
  const problems: FieldProblem[] = [];
  if (typeof endpoint !== "string")
    problems.push(problemAt(`${at}.endpoint is required`, `${at}.endpoint`, "required"));
  else if (lengthOf(endpoint) < 1 || lengthOf(endpoint) > 2048) {
    problems.push({
      message: `${at}.endpoint must be between 1 and 2048 characters`,
      field: `${at}.endpoint`,
      constraint: "length",
      min: 1,
      max: 2048,
    });
  }
  if (base64Bytes(keys?.p256dh) !== 65)
    problems.push(problemAt(`${at}.keys.p256dh must be 65 bytes, base64url`, `${at}.keys.p256dh`, "format"));
  if (base64Bytes(keys?.auth) !== 16)
    problems.push(problemAt(`${at}.keys.auth must be 16 bytes, base64url`, `${at}.keys.auth`, "format"));
  return problems;
}

interface WebSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

const CLOCK_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

function quietHoursProblem(value: unknown): FieldProblem | null {
  const {
    start,
    end,
    time_zone: zone,
  } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const isClock = (text: unknown) => typeof text === "string" && CLOCK_TIME.test(text);
  if (isClock(start) && isClock(end) && typeof zone === "string" && zone.length <= 64) return null;
  return problemAt("quiet_hours must hold start and end as HH:MM and a time_zone", "quiet_hours", "format");
}

/** Where and how often somebody wants to be told (section 4.5). */
export const NewSubscription = fields({
  fcm_token: optional(textField("fcm_token", 1, 4096)),
  subscription: optional(
    checkedField<WebSubscription>({ type: "object", description: "W3C PushSubscription JSON" }, subscriptionProblems),
  ),
  min_interval_minutes: optional(integerField("min_interval_minutes", 5, 1440, { default: 30 })),
  audience: optional(wordsField("audience", TAGS, { description: "Tags of interest; all when left out" })),
  quiet_hours: optional(
    checkedField<{ start: string; end: string; time_zone: string }>({ type: "object" }, quietHoursProblem),
  ),
  subscription_id: optional(textField("subscription_id", 1, 255, { description: "Only with PUT" })),
}).superRefine((given, context) => {
  if ((given.fcm_token === undefined) !== (given.subscription === undefined)) return;
  const message = "exactly one of fcm_token and subscription is needed";
  const problem: FieldProblem = { message, field: "fcm_token", constraint: "exactly_one" };
  context.addIssue({ code: "custom", message, params: { problem } });
});

export const SubscriptionReceipt = z.object({
  subscription_id: z.string(),
  status: z.literal("active"),
  delivers: z.literal(false).optional(),
  reason: z.string().optional(),
});

export const Stats = z.object({
  total_points: z.int(),
  total_answers: z.int(),
  streak_days: z.int(),
  badges: z.array(z.object({ id: z.string(), name: z.string(), earned_at: time })),
  rank: z.int().nullable(),
  answers_by_category: z.record(z.string(), z.int()),
  points_today: z.int(),
  badge_progress: z.array(z.object({ id: z.string(), name: z.string(), have: z.int(), need: z.int() })),
});

export const Leaderboard = z.object({
  period: z.enum(["daily", "weekly", "all_time"]),
  entries: z.array(z.object({ rank: z.int(), points: z.int(), answers: z.int(), is_current_user: z.boolean() })),
  your_rank: z.int().nullable(),
  your_points: z.int(),
});

export const Redeem = fields({ code: textField("code", 1, 100) });
export const RecoveryCode = z.object({ code: z.string(), expires_at: time });
export const NoContent = z.null().meta({ description: "Nothing more to say" });
export const Recovered = z.object({ status: z.literal("recovered") });
export const ErrorBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
});
