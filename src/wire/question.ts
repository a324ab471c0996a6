/** Questions to the crowd, and what people answer, as they travel (spec/ask-a-human 3 and 4). */
import { z } from "zod";
import { REPORT_REASONS, TAGS } from "../questions/model/question.ts";
import { faultsOf, integer, later, list, rule, ruleOfAll, text, words } from "./fields.ts";

const QUESTION_TYPES = ["text", "multiple_choice"] as const;
export type QuestionType = (typeof QUESTION_TYPES)[number];
const OPTION_MAX = 200;

/** The text of a question. */
export const promptField = text(10, 2000).describe("The question. Be specific and provide context.");

export const questionTypeField = z.enum(QUESTION_TYPES);

/** Fields that every door takes beside a question's text and type (spec/ask-a-human 3.1). */
export const questionFields = {
  options: later<string[]>({
    type: "array",
    items: { type: "string", minLength: 1, maxLength: OPTION_MAX },
    minItems: 2,
    maxItems: 10,
    description: "Required for multiple_choice; ignored for text.",
  }),
  audience: words(TAGS)
    .meta({ default: ["general"] })
    .optional(),
  min_responses: integer(1, 50).meta({ default: 5 }).optional(),
  timeout_seconds: integer(60, 86_400).meta({ default: 3600 }).optional(),
};

const options = list(
  text(1, OPTION_MAX),
  [2, 10],
  { says: "must have between 2 and 10 items", constraint: "length", min: 2, max: 10 },
  "must be a list of texts",
).check(
  rule((given) =>
    new Set(given.map((option) => option.trim())).size === given.length
      ? null
      : { says: "must all be different", constraint: "unique" },
  ),
);

/** A check of the options, which only a choice needs. */
export const checkOptions = ruleOfAll((question: { type?: unknown; options?: unknown }) => {
  if (question.type !== "multiple_choice") return null;
  if (question.options !== undefined) return faultsOf(options, question.options, "options");
  return [{ at: ["options"], says: "is required when type is multiple_choice", constraint: "required" }];
});

/** A new question, as an agent sends it (spec/ask-a-human 3.1). */
export const NewQuestionBody = z
  .object({
    prompt: promptField,
    type: questionTypeField,
    ...questionFields,
    fallback_human: text(1, 15).describe("Id of a human (GET /humans) to ask if the crowd does not answer.").optional(),
    fallback_after_seconds: integer(10, 86_399).meta({ default: 600 }).optional(),
    idempotency_key: text(1, 255).describe("A request that is sent again with the same key asks only once.").optional(),
    share_results: z.boolean().meta({ default: true }).optional(),
  })
  .check(checkOptions)
  .meta({ id: "NewQuestion" });
export type NewQuestionBody = z.output<typeof NewQuestionBody>;
export type NewQuestionInput = z.input<typeof NewQuestionBody>;

/** A person's answer. It is checked against its question later (spec/ask-a-human 4.4). */
export const NewAnswerBody = z
  .object({
    question_id: z.string(),
    answer: later<string>({ type: "string", minLength: 1, maxLength: 5000 }),
    selected_option: later<number>({ type: "integer", minimum: 0 }),
    confidence: later<number>({
      type: "integer",
      minimum: 1,
      maximum: 5,
      description: "1 (a guess) to 5 (certain).",
    }),
  })
  .meta({ id: "NewAnswer" });
export type NewAnswerBody = z.output<typeof NewAnswerBody>;
export type NewAnswerInput = z.input<typeof NewAnswerBody>;

const time = z.string().meta({ format: "date-time" });
const tags = z.array(z.enum(TAGS));
const status = z.enum(["OPEN", "PARTIAL", "CLOSED", "EXPIRED"]);

export const WireQuestionReceipt = z
  .object({
    question_id: z.string(),
    status,
    poll_url: z.string(),
    expires_at: time,
    created_at: time,
  })
  .meta({ id: "QuestionReceipt" });
export type WireQuestionReceipt = z.output<typeof WireQuestionReceipt>;

export const WireQuestionResponse = z
  .object({
    answer: z.string().optional(),
    selected_option: z.int().optional(),
    confidence: z.int().optional(),
    response_id: z.string().describe("With `expand=meta`, as the two below").optional(),
    created_at: time.optional(),
    tier: z.enum(["anonymous", "returning", "named"]).optional(),
  })
  .meta({ id: "QuestionResponse" });
export type WireQuestionResponse = z.output<typeof WireQuestionResponse>;

export const WireQuestion = z
  .object({
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
    responses: z.array(WireQuestionResponse),
    summary: z.record(z.string(), z.int()).describe("Option text to votes, every option present").optional(),
    integrity: z
      .object({ networks: z.int(), participants: z.int() })
      .describe(
        "From how many networks the answers came, as far as their days tell, and how many participants gave them",
      ),
  })
  .meta({ id: "Question" });
export type WireQuestion = z.output<typeof WireQuestion>;

export const WireQuestionList = z
  .object({
    questions: z.array(WireQuestion),
    not_found: z.array(z.string()).optional(),
    next_cursor: z.string().nullable().optional(),
  })
  .meta({ id: "QuestionList" });
export type WireQuestionList = z.output<typeof WireQuestionList>;

export const WireFeedQuestion = z
  .object({
    question_id: z.string(),
    prompt: z.string(),
    type: z.enum(QUESTION_TYPES),
    options: z.array(z.string()).optional(),
    audience: tags,
    responses_needed: z.int(),
    created_at: time,
    expires_at: time,
    points: z.int(),
  })
  .meta({ id: "FeedQuestion" });
export type WireFeedQuestion = z.output<typeof WireFeedQuestion>;

export const WireFeedPage = z
  .object({
    questions: z.array(WireFeedQuestion),
    next_cursor: z.string().nullable(),
    last_created_at: time.nullable().describe("When the newest question ever was asked; null before the first"),
  })
  .meta({ id: "FeedPage" });
export type WireFeedPage = z.output<typeof WireFeedPage>;

export const WireHumanQuestion = WireFeedQuestion.extend({
  can_answer: z.boolean(),
  reason: z.literal("already_answered").optional(),
}).meta({ id: "HumanQuestion" });
export type WireHumanQuestion = z.output<typeof WireHumanQuestion>;

export const WireAnswerReceipt = z
  .object({
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
  })
  .meta({ id: "AnswerReceipt" });
export type WireAnswerReceipt = z.output<typeof WireAnswerReceipt>;

export const WireQuestionResults = z
  .object({
    question_id: z.string(),
    status,
    required_responses: z.int(),
    current_responses: z.int(),
    summary: z.record(z.string(), z.int()).optional(),
    responses: z.array(WireQuestionResponse).optional(),
  })
  .meta({ id: "QuestionResults" });
export type WireQuestionResults = z.output<typeof WireQuestionResults>;

export const NewReportBody = z
  .object({
    reason: z.enum(REPORT_REASONS),
    comment: text(0, 500).optional(),
  })
  .meta({ id: "NewReport" });
export type NewReportBody = z.output<typeof NewReportBody>;
