import { z } from "zod";
import { TAGS } from "../../questions/model/question.ts";
import { REPORT_REASONS } from "../../questions/mark.ts";
import {
  booleanField,
  fields,
  integerField,
  idField,
  laterField,
  optional,
  textField,
  wordField,
} from "../../wire/fields.ts";
import { checkOptions, promptField, QUESTION_TYPES, questionFields, typeField } from "../http/new-question.ts";

/** What an agent sends (spec/ask-a-human 3.1). */
export const NewQuestion = fields({
  prompt: promptField("prompt"),
  type: typeField,
  ...questionFields,
  fallback_human: optional(
    textField("fallback_human", 1, 15, {
      description: "Id of a human (GET /humans) to ask if the crowd does not answer.",
    }),
  ),
  fallback_after_seconds: optional(integerField("fallback_after_seconds", 10, 86_399, { default: 600 })),
  idempotency_key: optional(textField("idempotency_key", 1, 255)),
  share_results: optional(booleanField("share_results", { default: true })),
}).superRefine(checkOptions);

/** What a person sends; the answer itself is checked against the question (spec/ask-a-human 4.4). */
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
  integrity: z.object({ networks: z.int(), participants: z.int() }),
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
  points_breakdown: z.object({
    base: z.int().optional(),
    confidence: z.int().optional(),
    thoughtful: z.int().optional(),
    quick: z.int().optional(),
    in_demand: z.int().optional(),
    streak: z.int().optional(),
    cap: z.int().optional(),
  }),
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

export const Stats = z.object({
  total_points: z.int(),
  total_answers: z.int(),
  streak_days: z.int(),
  badges: z.array(z.object({ id: z.string(), name: z.string(), earned_at: time })),
  rank: z.int().nullable(),
  answers_by_category: z.object(Object.fromEntries(TAGS.map((tag) => [tag, z.int()]))).partial(),
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
