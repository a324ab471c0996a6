/** Asks of executors and their jobs, as admins see them. */
import { z } from "zod";
import { ASK_STATUSES, JOB_STATES, PRIORITIES, STAGES } from "../../asks/model/ask.ts";
import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { answerSource, WireStageRecord } from "./ask.ts";
import { WireAskToPeople } from "../inbox.ts";
import { nextField } from "../page.ts";

const orNull = z.string().nullable();
const members = z.record(z.string(), z.unknown());
const status = z.enum(ASK_STATUSES);
const stage = z.enum(STAGES);

const ask = {
  id: z.string(),
  job: z.string(),
  step: z.string(),
  type: z.enum(ASK_TYPES),
  prompt: z.string(),
  by: z.string(),
  status,
  stage,
};

export const WireAdminAskLine = z
  .object({
    ...ask,
    source: answerSource.nullable(),
    answered_by: orNull,
    error_code: orNull,
    created_at: z.string(),
    ended_at: orNull,
  })
  .meta({ id: "AdminAskLine", description: "An executor's ask, as a line of a list." });
export type WireAdminAskLine = z.output<typeof WireAdminAskLine>;

export const WireAdminAskPage = z
  .object({
    asks: z.array(WireAdminAskLine),
    next: nextField,
    open: z.int().describe("The number of asks that wait for an answer, of all pages."),
    oldest_ms: z.int().describe("How long the oldest of them has waited; 0 where none does."),
  })
  .meta({ id: "AdminAskPage" });
export type WireAdminAskPage = z.output<typeof WireAdminAskPage>;

export const WireAdminAnswer = z
  .object({
    status: status.exclude(["PENDING"]),
    source: answerSource,
    by: z.string(),
    answered_by: orNull,
    text: orNull,
    json: z.unknown(),
    artifacts: z.array(z.string()),
    error: orNull,
    error_code: orNull,
    ask_back: orNull,
    policy_trace: members.nullable(),
    attestation: members.nullable(),
    cacheable: z.boolean(),
    truncated: z.boolean(),
    at: z.string(),
  })
  .meta({ id: "AdminAnswer", description: "The answer to an executor's ask, with the grounds it was given on." });
export type WireAdminAnswer = z.output<typeof WireAdminAnswer>;

const wholeAsk = {
  ...ask,
  stages: z.array(WireStageRecord),
  epoch: z.int(),
  meta: members,
  envelope: members.nullable(),
  role: orNull,
  constraints: members,
  context_hash: z.string(),
  joined_to: orNull,
  decision_key: orNull,
  consent_digest: orNull,
  question_id: orNull.describe("The question to the crowd that it became"),
  created_at: z.string(),
  expires_at: z.string(),
  answer: WireAdminAnswer.nullable(),
};

export const WireAdminJobAsk = z
  .object(wholeAsk)
  .meta({ id: "AdminJobAsk", description: "An executor's ask in its job, with its answer." });
export type WireAdminJobAsk = z.output<typeof WireAdminJobAsk>;

export const WireAdminJobAskPage = z
  .object({ asks: z.array(WireAdminJobAsk), next: nextField })
  .meta({ id: "AdminJobAskPage" });
export type WireAdminJobAskPage = z.output<typeof WireAdminJobAskPage>;

export const WireLateAnswer = z
  .object({ by: z.string(), status, text: orNull, at: z.string() })
  .meta({ id: "LateAnswer", description: "An answer that came when the ask was over." });
export type WireLateAnswer = z.output<typeof WireLateAnswer>;

export const WireLateAnswerPage = z
  .object({ late: z.array(WireLateAnswer), next: nextField })
  .meta({ id: "LateAnswerPage" });
export type WireLateAnswerPage = z.output<typeof WireLateAnswerPage>;

export const WireSharingAskPage = z
  .object({ shared_by: z.array(z.string()), next: nextField })
  .meta({ id: "SharingAskPage" });
export type WireSharingAskPage = z.output<typeof WireSharingAskPage>;

export const WireAdminAsk = z
  .object({
    ...wholeAsk,
    late: z.array(WireLateAnswer),
    late_next: nextField,
    shared_by: z.array(z.string()).describe("The asks that share its answer"),
    shared_by_next: nextField,
    people: WireAskToPeople.nullable().describe("The request to people that it became"),
  })
  .meta({ id: "AdminAsk", description: "The whole life of an executor's ask." });
export type WireAdminAsk = z.output<typeof WireAdminAsk>;

const job = {
  id: z.string(),
  title: z.string().describe("One line that people know it by"),
  kind: z.string(),
  state: z.enum(JOB_STATES),
  reason: orNull,
  epoch: z.int(),
  external: z.boolean(),
  owner: z.string(),
  holder: orNull,
  pending_asks: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
};

export const WireAdminJobLine = z.object(job).meta({ id: "AdminJobLine", description: "A job, as a line of a list." });
export type WireAdminJobLine = z.output<typeof WireAdminJobLine>;

export const WireAdminJobPage = z
  .object({
    jobs: z.array(WireAdminJobLine),
    next: nextField,
    open: z.int().describe("The number of jobs that are not over, of all pages."),
  })
  .meta({ id: "AdminJobPage" });
export type WireAdminJobPage = z.output<typeof WireAdminJobPage>;

export const WireAdminJob = z
  .object({
    ...job,
    attempts: z.int(),
    max_attempts: z.int(),
    env: orNull,
    repo: orNull,
    labels: z.record(z.string(), z.string()),
    priority: z.enum(PRIORITIES),
    spec: z.unknown(),
    result: z.unknown(),
    artifacts: z.array(z.string()),
    lease_until: orNull,
    ttl_until: z.string(),
    seq: z.int().describe("The number of its newest event"),
  })
  .meta({ id: "AdminJob", description: "A job with what it is for and what came of it." });
export type WireAdminJob = z.output<typeof WireAdminJob>;

export const WireAdminJobEvent = z
  .object({ seq: z.int(), event: z.enum(["status", "log", "answer", "snapshot", "reset"]), data: members })
  .meta({ id: "AdminJobEvent", description: "One event of a job." });
export type WireAdminJobEvent = z.output<typeof WireAdminJobEvent>;

export const WireJobHistoryPage = z
  .object({ events: z.array(WireAdminJobEvent), next: nextField })
  .meta({ id: "JobHistoryPage" });
export type WireJobHistoryPage = z.output<typeof WireJobHistoryPage>;

const count = z.int().optional();

export const WireHourFigures = z
  .object({
    minutes: z.array(
      z.object({
        at: z.string(),
        stages: z.object({ intake: count, policy: count, cache: count, runner: count, people: count }),
        by: z.object({ policy: count, cache: count, runner: count, people: count, nobody: count }),
        p95_ms: z.number().nullable(),
      }),
    ),
    pending: z.array(z.object({ type: z.enum(ASK_TYPES), stage, count: z.int() })),
  })
  .meta({ id: "HourFigures", description: "Asks that ended in each minute of the last hour, and asks that wait." });
export type WireHourFigures = z.output<typeof WireHourFigures>;
