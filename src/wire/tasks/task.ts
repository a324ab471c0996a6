/** Work for coding agents and what came of it, as it travels (spec/assignment 2). */
import { z } from "zod";
import { ASK_STATUSES } from "../../asks/model/ask.ts";
import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { SANDBOXES } from "../../core/model/sandbox.ts";
import {
  ATTEMPT_STATES,
  REVIEW_DECISIONS,
  START_ON,
  TASK_EVENT_TYPES,
  TASK_STATES,
  TASK_STATUSES,
} from "../../tasks/model/task.ts";
import { WireAgentNote } from "../agent-note.ts";
import { WireLineComment } from "./bodies.ts";
import { wireMoment } from "../time.ts";

const sandbox = z.enum(SANDBOXES);
const startOn = z.enum(START_ON);

export const WireDiffstat = z.object({ files: z.int(), insertions: z.int(), deletions: z.int() }).meta({
  id: "Diffstat",
});
export type WireDiffstat = z.output<typeof WireDiffstat>;

const question = z.object({ askId: z.string(), summary: z.string(), url: z.string() }).meta({
  id: "TaskQuestion",
  description: "An ask that an attempt waits for.",
});

const conflict = z
  .object({
    dependencies: z.array(z.string()),
    paths: z.array(z.string()),
    morePaths: z.int().describe("How many more paths there are").optional(),
    waits: z.boolean().describe("A person has chosen to wait for another commit of a dependency"),
  })
  .meta({ id: "TaskConflict", description: "Dependencies that do not merge, and where." });

export const WireTask = z
  .object({
    repo: z.string(),
    id: z.string(),
    submittedAt: wireMoment,
    status: z.enum(TASK_STATUSES),
    state: z.enum(TASK_STATES),
    commit: z.string().describe("Exactly while the status is completed").optional(),
    title: z.string().describe("The first line of the prompt"),
    attempt: z.int().describe("The number of the newest attempt; 0 before the first"),
    agent: z.string().optional(),
    branch: z.string().optional(),
    changed: z.boolean().optional(),
    diffstat: WireDiffstat.optional(),
    ref: z.string().optional(),
    dependencies: z.array(z.string()),
    blockedBy: z.array(z.string()).describe("Ids of the tasks that it waits for"),
    blockedReason: z.string().optional(),
    conflict: conflict.optional(),
    stale: z.boolean().describe("It was built on a commit that a dependency has no more"),
    error: z.string().optional(),
    sandbox: sandbox.optional(),
    sandboxNotice: z.string().optional(),
    warnings: z.array(z.string()).optional(),
    question: question.optional(),
    reviewUrl: z.string().optional(),
  })
  .meta({ id: "Task", description: "A piece of work for a coding agent." });
export type WireTask = z.output<typeof WireTask>;

export const WireTaskAsk = z
  .object({
    askId: z.string(),
    attempt: z.int(),
    type: z.enum(ASK_TYPES),
    summary: z.string(),
    prompt: z.string(),
    state: z.enum(ASK_STATUSES),
    url: z.string().optional(),
    askedAt: wireMoment,
    answeredAt: wireMoment.optional(),
    answer: z.string().optional(),
    by: z.string().describe("Who answered: a person by name, or what else did").optional(),
  })
  .meta({ id: "TaskAsk", description: "A question of a task's agent." });
export type WireTaskAsk = z.output<typeof WireTaskAsk>;

export const WireTaskAskPage = z
  .object({ asks: z.array(WireTaskAsk), next: z.string().nullable() })
  .meta({ id: "TaskAskPage" });
export type WireTaskAskPage = z.output<typeof WireTaskAskPage>;

export const WireTaskAttempt = z
  .object({
    n: z.int(),
    state: z.enum(ATTEMPT_STATES),
    outcome: z.string().describe("Why it ended, such as completed, failed, lost or superseded").optional(),
    agent: z.string(),
    agentVersion: z.string().optional(),
    sandbox: sandbox.optional(),
    resumes: z.int(),
    changed: z.boolean().optional(),
    usage: z
      .object({
        turns: z.number(),
        inputTokens: z.number(),
        outputTokens: z.number(),
        costUsd: z.number(),
        workMs: z.number(),
      })
      .partial()
      .describe("The cost so far, as its agent counts it")
      .optional(),
    start: z.string().describe("The commit that it began with").optional(),
    commit: z.string().optional(),
    jobId: z.string(),
    startedAt: wireMoment,
    endedAt: wireMoment.optional(),
  })
  .meta({ id: "TaskAttempt", description: "One run of an agent on a task." });
export type WireTaskAttempt = z.output<typeof WireTaskAttempt>;

export const WireWrittenReview = z
  .object({
    attempt: z.int(),
    verdict: z.enum(REVIEW_DECISIONS),
    comment: z.string().optional(),
    comments: z.array(WireLineComment),
    by: z.string(),
    at: wireMoment,
  })
  .meta({ id: "WrittenReview", description: "A person's review of a task." });
export type WireWrittenReview = z.output<typeof WireWrittenReview>;

export const WireWholeTask = WireTask.extend({
  prompt: z.string(),
  base: z.string().optional(),
  startDependentsOn: startOn.optional(),
  tree: z.object({ path: z.string(), bytes: z.int() }).optional(),
  attempts: z.array(WireTaskAttempt),
  reviews: z.array(WireWrittenReview),
  notes: z.array(WireAgentNote).describe("Notes of people to its agents, oldest first"),
  asks: z.array(WireTaskAsk),
  asksNext: z.string().nullable(),
}).meta({ id: "WholeTask", description: "A task with everything that its reader may see." });
export type WireWholeTask = z.output<typeof WireWholeTask>;

export const WireBoard = z
  .object({ serverName: z.string(), protocolVersion: z.string(), seq: z.int(), tasks: z.array(WireTask) })
  .meta({ id: "Board", description: "The server, and the tasks of one of its repositories." });
export type WireBoard = z.output<typeof WireBoard>;

export const WireTaskEvent = z
  .looseObject({ seq: z.int(), at: wireMoment, attempt: z.int(), type: z.enum(TASK_EVENT_TYPES) })
  .meta({ id: "TaskEvent", description: "One thing that happened to a task, with what else is told of it." });
export type WireTaskEvent = z.output<typeof WireTaskEvent>;

export const WireTaskReset = z.object({ reset: z.literal(true), seq: z.int(), type: z.literal("state") }).meta({
  id: "TaskReset",
  description: "Earlier events are no longer sent: read the task again.",
});
export type WireTaskReset = z.output<typeof WireTaskReset>;

export const WireAssignmentReport = z
  .object({
    sandboxNotice: z.string().nullable(),
    parallel: z.int(),
    repos: z.array(
      z.object({
        name: z.string(),
        agent: z.string(),
        isDefault: z.boolean(),
        parallel: z.int(),
        startDependentsOn: startOn,
        target: z.string().nullable().describe("The branch that approved work comes into"),
        worker: z.boolean().describe("Workers elsewhere have the repository"),
      }),
    ),
    agents: z.array(z.object({ name: z.string(), ready: z.boolean(), why: z.string().optional() })),
    tasks: z.array(WireTask),
  })
  .meta({ id: "AssignmentReport", description: "Repositories, agents, and all their tasks." });
export type WireAssignmentReport = z.output<typeof WireAssignmentReport>;

// The same things, as the routes of admins and of whoever reviews call them.
export const WireAdminTask = WireTask.meta({ id: "AdminTask" });
export type WireAdminTask = z.output<typeof WireAdminTask>;
export const WireInboxTask = WireWholeTask.meta({ id: "InboxTask" });
export const WireInboxTaskAsks = WireTaskAskPage.meta({ id: "InboxTaskAsks" });
export const WireInboxReviewResult = WireWholeTask.meta({ id: "InboxReviewResult" });
