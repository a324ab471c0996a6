import { NewTaskBody, ReviewBody } from "../../http/task-fields.ts";
import { z } from "zod";
import { anything, flag, integer, list, members, named, object, oneOf, type Schema, text, time } from "./operation.ts";

const ANSWER_STATUS = ["ANSWERED", "REJECTED", "TIMEOUT", "ERROR"] as const;
const ASK_TYPE = oneOf("CLARIFICATION", "RESOURCE_FETCH", "POLICY_DECISION", "APPROVAL", "CHOICE");
const JOB_STATE = oneOf("QUEUED", "RUNNING", "WAITING_ON_ANSWER", "SUCCEEDED", "FAILED", "CANCELED", "EXPIRED");
const number: Schema = { type: "number" };

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Replies of the relay have each name a second time in camelCase, which new clients need not read. */
function relayObject(fields: Readonly<Record<string, Schema>>): Schema {
  const aliases = Object.entries(fields).flatMap(([name, schema]) => {
    const alias = camel(name.replace(/\?$/, ""));
    return alias === name.replace(/\?$/, "") ? [] : [[`${alias}?`, { ...schema, deprecated: true }] as const];
  });
  return object({ ...fields, ...Object.fromEntries(aliases) });
}

const JOB = {
  job_id: text(),
  kind: text(),
  state: JOB_STATE,
  "reason?": text(),
  epoch: integer,
  attempts: integer,
  max_attempts: integer,
  external: flag,
  "env?": text(),
  "repo?": text(),
  "labels?": { type: "object", additionalProperties: { type: "string" } },
  priority: oneOf("P0", "P1", "P2"),
  pending_asks: integer,
  "spec?": anything,
  "result?": anything,
  "artifacts?": list(text()),
  created_at: integer,
  updated_at: integer,
  "lease_expires_at?": integer,
};

const ANSWER = {
  type: { const: "Answer" },
  ask_id: text(),
  job_id: text(),
  step_id: text(),
  status: oneOf(...ANSWER_STATUS),
  "answer_text?": text(),
  "answer_json?": anything,
  "artifacts?": list(text()),
  "policy_trace?": members(),
  cacheable: flag,
  "ask_back?": text(),
  "error?": text(),
  "error_code?": text(),
  source: text("policy, cache, runner, person, service or server"),
  "answered_by?": text(),
  "consent_digest?": text(),
  "attestation?": { ...object({ context_hash: text() }), additionalProperties: true },
  "truncated?": flag,
  created_at: integer,
};

const ASK = {
  type: { const: "Ask" },
  ask_id: text(),
  job_id: text(),
  step_id: text(),
  ask_type: ASK_TYPE,
  prompt: text(),
  "context_hash?": text(),
  "context_envelope?": members(),
  constraints: members(),
  "role_id?": text(),
  "meta?": members(),
  status: oneOf("PENDING", ...ANSWER_STATUS),
  stage: text("intake, policy, cache, runner or people"),
  epoch: integer,
  created_at: integer,
  expires_at: integer,
  "joined_to?": text(),
  "consent_digest?": text(),
  warnings: list(members()),
  "stages?": list(object({ stage: text(), outcome: text(), ms: number })),
};

const TASK = {
  repo: text(),
  id: text(),
  submittedAt: time,
  status: text(),
  state: text(),
  "commit?": text(),
  title: text(),
  attempt: integer,
  "agent?": text(),
  "branch?": text(),
  "changed?": flag,
  "diffstat?": named("Diffstat"),
  "ref?": text(),
  "dependencies?": list(text()),
  "blockedBy?": list(text()),
  "blockedReason?": text(),
  "conflict?": anything,
  "stale?": anything,
  "error?": text(),
  "sandbox?": text(),
  "sandboxNotice?": text(),
  "warnings?": list(text()),
  "question?": named("TaskQuestion"),
  "reviewUrl?": text(),
};

const TASK_ASK = object({
  askId: text(),
  attempt: integer,
  type: text(),
  summary: text(),
  prompt: text(),
  state: text(),
  "url?": text(),
  askedAt: time,
  "answeredAt?": time,
  "answer?": text(),
  "by?": text(),
});

const bodyOf = (schema: z.ZodType): Schema => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });

/** What the doors take and reply with at which executors and coding agents work (spec/relay 4 and spec/assignment 2). */
export const WORK_SCHEMAS: Readonly<Record<string, Schema>> = {
  WorkError: object({ error: object({ code: text(), message: text(), "details?": anything }) }),
  Ask: relayObject(ASK),
  AskPage: object({ asks: list(named("Ask")), "next_cursor?": text() }),
  Answer: relayObject(ANSWER),
  AnswerOrAsk: { anyOf: [named("Answer"), named("Ask")] },
  AskHistory: relayObject({
    job_id: text(),
    asks: list(object({ ask: named("Ask"), answer: { anyOf: [named("Answer"), { type: "null" }] } })),
    "next_cursor?": text(),
  }),
  Job: relayObject(JOB),
  JobPage: object({ jobs: list(named("Job")), "next_cursor?": text() }),
  Lease: object({ token: text(), epoch: integer, ttl_s: number, expires_at: integer }),
  ClaimedJob: object({ job: named("Job"), lease: named("Lease") }),
  HeldJob: relayObject({
    job_id: text(),
    state: JOB_STATE,
    epoch: integer,
    "lease_expires_at?": integer,
    pending_asks: integer,
  }),
  AcceptedLogs: object({ accepted: integer }),
  Artifact: object({ path: text(), size: integer, sha256: text() }),
  Diffstat: object({ files: integer, insertions: integer, deletions: integer }),
  TaskQuestion: object({ askId: text(), summary: text(), url: text() }),
  Task: object(TASK),
  TaskName: object({ id: text() }),
  Board: object({ serverName: text(), protocolVersion: text(), seq: integer, tasks: list(named("Task")) }),
  TaskAsk: TASK_ASK,
  TaskAskPage: object({ asks: list(named("TaskAsk")), next: { type: ["string", "null"] } }),
  TaskAttempt: object({
    n: integer,
    state: text(),
    "outcome?": text(),
    "agent?": text(),
    "agentVersion?": text(),
    "sandbox?": text(),
    "resumes?": integer,
    "changed?": flag,
    "usage?": members(),
    "start?": text(),
    "commit?": text(),
    "jobId?": text(),
    startedAt: time,
    "endedAt?": time,
  }),
  WrittenReview: object({
    attempt: integer,
    verdict: text(),
    "comment?": text(),
    comments: list(object({ path: text(), line: integer, text: text() })),
    by: text(),
    at: time,
  }),
  WholeTask: object({
    ...TASK,
    prompt: text(),
    "base?": text(),
    "startDependentsOn?": text(),
    "tree?": object({ path: text(), bytes: integer }),
    attempts: list(named("TaskAttempt")),
    reviews: list(named("WrittenReview")),
    asks: list(named("TaskAsk")),
    asksNext: { type: ["string", "null"] },
  }),
  NewTask: bodyOf(NewTaskBody),
  TaskReview: bodyOf(ReviewBody),
  WorkReply: members("What a worker is told: of a claim the commission, of a wish the decision"),
  ReviewedWork: object({
    onApprove: anything,
    reviewed: list(
      object({
        repo: text(),
        id: text(),
        slug: text(),
        generation: integer,
        n: integer,
        commit: text(),
        is: oneOf("approve", "reject"),
      }),
    ),
    rejected: list(anything),
  }),
};
