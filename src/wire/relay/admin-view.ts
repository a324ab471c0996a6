/** Everybody's asks and jobs, as the relay shows them to admins (spec/relay 5.1). */
import { z } from "zod";
import { ASK_STATUSES } from "../../asks/model/ask.ts";
import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { WireAskToPeople } from "../inbox.ts";
import { answerSource, WireAnswer, WireAsk } from "./ask.ts";
import { WireJob } from "./job.ts";

const next_cursor = z.string().optional();
const { ask_id, job_id, step_id, ask_type, prompt, status, stage } = WireAsk.shape;
const line = { ask_id, job_id, step_id, ask_type, prompt, status, stage };

export const WireAskLine = z
  .object({
    ...line,
    asked_by: z.string(),
    source: answerSource.optional(),
    answered_by: z.string().optional(),
    error_code: z.string().optional(),
    created_at: z.int(),
    ended_at: z.int().optional(),
  })
  .meta({ id: "AskLine", description: "An executor's ask, as a line of a list, with the beginning of its prompt." });
export type WireAskLine = z.output<typeof WireAskLine>;

export const WireAskLinePage = z
  .object({
    asks: z.array(WireAskLine),
    next_cursor,
    open: z.int().describe("The number of asks that wait for an answer, of all pages."),
    oldest_ms: z.int().describe("How long the oldest of them has waited; 0 where none does."),
  })
  .meta({ id: "AskLinePage" });
export type WireAskLinePage = z.output<typeof WireAskLinePage>;

export const WireLateAnswer = z
  .object({
    answered_by: z.string(),
    status: z.enum(ASK_STATUSES),
    answer_text: z.string().optional(),
    at: z.int(),
  })
  .meta({ id: "LateAnswer", description: "An answer that came when the ask was over." });
export type WireLateAnswer = z.output<typeof WireLateAnswer>;

export const WireLateAnswerPage = z
  .object({ late: z.array(WireLateAnswer), next_cursor })
  .meta({ id: "LateAnswerPage" });
export type WireLateAnswerPage = z.output<typeof WireLateAnswerPage>;

export const WireSharingAskPage = z
  .object({ shared_by: z.array(z.string()), next_cursor })
  .meta({ id: "SharingAskPage" });
export type WireSharingAskPage = z.output<typeof WireSharingAskPage>;

export const WireWholeAsk = WireAsk.extend({
  asked_by: z.string(),
  decision_key: z.string().optional(),
  question_id: z.string().describe("The question to the crowd that it became").optional(),
  answer: WireAnswer.optional(),
  late: z.array(WireLateAnswer),
  late_next: next_cursor,
  shared_by: z.array(z.string()).describe("The asks that share its answer"),
  shared_by_next: next_cursor,
  people: WireAskToPeople.describe("The request to people that it became").optional(),
}).meta({ id: "WholeAsk", description: "The whole life of an executor's ask." });
export type WireWholeAsk = z.output<typeof WireWholeAsk>;

const { kind, state, reason, epoch, external, pending_asks, created_at, updated_at } = WireJob.shape;
const beside = {
  title: z.string().describe("One line that people know it by"),
  owner: z.string(),
  holder: z.string().optional(),
};

export const WireJobLine = z
  .object({ job_id, kind, state, reason, epoch, external, ...beside, pending_asks, created_at, updated_at })
  .meta({ id: "JobLine", description: "A job, as a line of a list." });
export type WireJobLine = z.output<typeof WireJobLine>;

export const WireJobLinePage = z
  .object({
    jobs: z.array(WireJobLine),
    next_cursor,
    open: z.int().describe("The number of jobs that are not over, of all pages."),
  })
  .meta({ id: "JobLinePage" });
export type WireJobLinePage = z.output<typeof WireJobLinePage>;

export const WireWholeJob = WireJob.extend({
  ...beside,
  expires_at: z.int().describe("When it ends by itself"),
  seq: z.int().describe("The number of its newest event"),
}).meta({ id: "WholeJob", description: "A job with what it is for and what came of it." });
export type WireWholeJob = z.output<typeof WireWholeJob>;

export const WireJobEvent = z
  .object({
    seq: z.int(),
    event: z.enum(["status", "log", "answer", "snapshot", "reset"]),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "JobEvent", description: "One event of a job." });
export type WireJobEvent = z.output<typeof WireJobEvent>;

export const WireJobHistoryPage = z
  .object({ events: z.array(WireJobEvent), next_cursor })
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

/** The replies of routes that repeat the relay's own. */
export const WireFormerReply = z.record(z.string(), z.unknown()).meta({
  id: "FormerReply",
  description: "The same as at the relay's own route, with former names and texts of times.",
});
