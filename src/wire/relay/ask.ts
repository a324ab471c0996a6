/** An executor's ask and its answer, as they travel (spec/relay 3 to 5). */
import { z } from "zod";
import { ASK_STATUSES, STAGES } from "../../asks/model/ask.ts";
import { CALL_OUTCOME_STATES } from "../../requests/model/call-outcome.ts";
import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { aliased } from "../aliases.ts";

const askType = z.enum(ASK_TYPES);
const askStatus = z.enum(ASK_STATUSES);
const answerStatus = askStatus.exclude(["PENDING"]);
const stage = z.enum(STAGES);
export const answerSource = z.enum(["policy", "cache", "runner", "person", "service", "server"]);
const members = z.record(z.string(), z.unknown());

export const WireAnswer = aliased({
  type: z.literal("Answer"),
  ask_id: z.string(),
  job_id: z.string(),
  step_id: z.string(),
  status: answerStatus,
  answer_text: z.string().optional(),
  answer_json: z.unknown().optional(),
  artifacts: z.array(z.string()).optional(),
  policy_trace: members.optional(),
  cacheable: z.boolean(),
  ask_back: z.string().optional(),
  error: z.string().describe('`"<E_CODE>: <text>"`').optional(),
  error_code: z.string().optional(),
  source: answerSource,
  answered_by: z.string().optional(),
  consent_digest: z.string().optional(),
  attestation: z.looseObject({ context_hash: z.string() }).optional(),
  truncated: z.boolean().optional(),
  created_at: z.int(),
}).meta({ id: "Answer", description: "The one outcome of an ask." });
export type WireAnswer = z.output<typeof WireAnswer>;

const WireStageRecord = z
  .object({ stage, outcome: z.string(), ms: z.number() })
  .meta({ id: "StageRecord", description: "The outcome of one stage, and the time it took." });

const constraints = z
  .object({ timeout_s: z.number(), max_tokens: z.int(), allowed_tools: z.array(z.string()).optional() })
  .meta({ id: "AskConstraints" });

export const WireAskOutcome = z
  .object({
    state: z.enum(CALL_OUTCOME_STATES).describe("`awaited` and `started` are no ends; a report replaces `unknown`"),
    at: z.int(),
    text: z.string().describe("The executor's words").optional(),
    result_digest: z.string().optional(),
  })
  .meta({ id: "AskOutcome", description: "What became of the call that an ask allowed." });
export type WireAskOutcome = z.output<typeof WireAskOutcome>;

const ask = {
  type: z.literal("Ask"),
  ask_id: z.string(),
  job_id: z.string(),
  step_id: z.string(),
  ask_type: askType,
  prompt: z.string(),
  context_hash: z.string().optional(),
  context_envelope: members.optional(),
  constraints,
  role_id: z.string().optional(),
  meta: members.optional(),
  status: askStatus,
  stage,
  epoch: z.int(),
  created_at: z.int(),
  expires_at: z.int(),
  joined_to: z.string().optional(),
  consent_digest: z.string().optional(),
  warnings: z.array(z.object({ path: z.string(), rule: z.string() }).meta({ id: "AskWarning" })),
  stages: z.array(WireStageRecord).optional(),
  outcome: WireAskOutcome.describe(
    "Only of an ask that allowed a call, where a report was promised or came",
  ).optional(),
};

export const WireAsk = aliased(ask).meta({ id: "Ask", description: "One question of an executor." });
export type WireAsk = z.output<typeof WireAsk>;

export const WireAskPage = z
  .object({ asks: z.array(WireAsk), next_cursor: z.string().optional() })
  .meta({ id: "AskPage" });
export type WireAskPage = z.output<typeof WireAskPage>;

/** An answer that counts; the ask itself where others have to agree first. */
export const WireAnswerOrAsk = z.union([WireAnswer, WireAsk]).meta({ id: "AnswerOrAsk" });

export const WireAskHistory = aliased({
  job_id: z.string(),
  asks: z.array(z.object({ ask: WireAsk, answer: WireAnswer.nullable() })),
  next_cursor: z.string().optional(),
}).meta({ id: "AskHistory", description: "The asks of a job, and their answers." });
export type WireAskHistory = z.output<typeof WireAskHistory>;
