/** An executor's job, as it travels (spec/relay 2 and 5). */
import { z } from "zod";
import { isArtifactPath } from "../../asks/model/artifact-rules.ts";
import { JOB_STATES, PRIORITIES } from "../../asks/model/ask.ts";
import { LEASE_S, LOG_LEVELS } from "../../asks/model/job-rules.ts";
import { repoOfKind } from "../../core/model/attempt-kind.ts";
import type { FieldProblem } from "../../core/model/field-problem.ts";
import { aliased } from "../aliases.ts";
import { WireAsk } from "./ask.ts";
import {
  booleanField,
  checkedField,
  fields,
  integerField,
  laterField,
  optional,
  textField,
  wordField,
} from "../fields.ts";
import { jsonField, labelsField, objectField, RELAY_ID, relayIdField, typeField } from "./fields.ts";

const jobState = z.enum(JOB_STATES);

export const WireJob = aliased({
  job_id: z.string(),
  kind: z.string(),
  state: jobState,
  reason: z.string().optional(),
  epoch: z.int(),
  attempts: z.int(),
  max_attempts: z.int(),
  external: z.boolean(),
  env: z.string().optional(),
  repo: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  priority: z.enum(PRIORITIES),
  pending_asks: z.int(),
  spec: z.unknown().optional(),
  result: z.unknown().optional(),
  artifacts: z.array(z.string()).optional(),
  created_at: z.int(),
  updated_at: z.int(),
  lease_expires_at: z.int().optional(),
}).meta({ id: "Job", description: "A piece of work." });
export type WireJob = z.output<typeof WireJob>;

export const WireJobPage = z
  .object({ jobs: z.array(WireJob), next_cursor: z.string().optional() })
  .meta({ id: "JobPage" });
export type WireJobPage = z.output<typeof WireJobPage>;

export const WireLease = z
  .object({ token: z.string(), epoch: z.int(), ttl_s: z.number(), expires_at: z.int() })
  .meta({ id: "Lease", description: "Shows that a job is held: whoever has the token writes in the job's name." });
export type WireLease = z.output<typeof WireLease>;

export const WireClaimedJob = z.object({ job: WireJob, lease: WireLease }).meta({ id: "ClaimedJob" });
export type WireClaimedJob = z.output<typeof WireClaimedJob>;

export const WireHeldJob = aliased({
  job_id: z.string(),
  state: jobState,
  epoch: z.int(),
  lease_expires_at: z.int().optional(),
  pending_asks: z.int(),
}).meta({ id: "HeldJob", description: "How a job stands whose lease was held on." });
export type WireHeldJob = z.output<typeof WireHeldJob>;

export const WireAcceptedLogs = z.object({ accepted: z.int() }).meta({ id: "AcceptedLogs" });
export type WireAcceptedLogs = z.output<typeof WireAcceptedLogs>;

export const WireArtifact = aliased({ path: z.string(), size: z.int(), sha256: z.string() }).meta({
  id: "Artifact",
  description: "A file of a job.",
});
export type WireArtifact = z.output<typeof WireArtifact>;

export const WireJobStatus = aliased({
  job_id: z.string(),
  state: jobState,
  from: jobState.optional(),
  epoch: z.int(),
  pending_asks: z.int(),
  reason: z.string().optional(),
  at: z.int(),
  reset: z
    .boolean()
    .describe("Earlier events are no longer sent; `snapshot` holds the job and its pending asks")
    .optional(),
  snapshot: z.object({ job: WireJob, pending_asks: z.array(WireAsk) }).optional(),
}).meta({ id: "JobStatus", description: "A job's state, as those who follow it read it." });
export type WireJobStatus = z.output<typeof WireJobStatus>;

export const WireJobLogLine = aliased({
  job_id: z.string(),
  message: z.string(),
  level: z.enum(LOG_LEVELS).optional(),
  step_id: z.string().optional(),
  ask_id: z.string().optional(),
  fields: z.record(z.string(), z.unknown()).optional(),
  event: z.string().optional(),
  at: z.int(),
}).meta({ id: "JobLogLine", description: "A line about a job's work, as those who follow it read it." });
export type WireJobLogLine = z.output<typeof WireJobLogLine>;

/** A month: longer than anybody waits for. */
const MOST_TTL_S = 30 * 86_400;
const MOST_ATTEMPTS = 100;
const MOST_KINDS = 32;
/** The most artifacts that one result may name. */
const MOST_NAMED = 64;

export const NewJobBody = fields({
  job_id: optional(relayIdField("job_id")),
  kind: optional(relayIdField("kind")),
  external: optional(booleanField("external")),
  spec: jsonField("spec"),
  env: optional(textField("env", 1, 128)),
  repo: optional(textField("repo", 1, 1000)),
  labels: labelsField("labels"),
  priority: optional(wordField("priority", PRIORITIES)),
  ttl_s: optional(integerField("ttl_s", 1, MOST_TTL_S)),
  max_attempts: optional(integerField("max_attempts", 1, MOST_ATTEMPTS)),
}).meta({ id: "NewJob" });
export type NewJobBody = z.output<typeof NewJobBody>;

export const ClaimBody = fields({
  kinds: optional(
    checkedField<string[]>(
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: MOST_KINDS },
      kindsProblem,
    ),
  ),
  worker_id: textField("worker_id", 1, 128),
  lease_ttl_s: optional(integerField("lease_ttl_s", LEASE_S.least, LEASE_S.most)),
  wait: laterField<string>({ type: "string", description: "Such as 25s; a bare number means seconds." }),
}).meta({ id: "JobClaim" });
export type ClaimBody = z.output<typeof ClaimBody>;

export const HeartbeatBody = fields({ type: typeField("Heartbeat"), note: optional(textField("note", 1, 4000)) }).meta({
  id: "Heartbeat",
});
export type HeartbeatBody = z.output<typeof HeartbeatBody>;

export const ReasonBody = fields({ reason: optional(textField("reason", 1, 1000)) }).meta({ id: "Reason" });
export type ReasonBody = z.output<typeof ReasonBody>;

export const FinishBody = fields({
  state: wordField("state", ["SUCCEEDED", "FAILED"]),
  reason: optional(textField("reason", 1, 1000)),
  result: jsonField("result"),
  artifacts: optional(
    checkedField<string[]>({ type: "array", items: { type: "string" }, maxItems: MOST_NAMED }, pathsProblem),
  ),
}).meta({ id: "JobEnd" });
export type FinishBody = z.output<typeof FinishBody>;

export const LogBody = fields({
  type: typeField("Log"),
  step_id: optional(relayIdField("step_id")),
  ask_id: optional(relayIdField("ask_id")),
  level: optional(wordField("level", LOG_LEVELS)),
  message: textField("message", 1, 16_000),
  fields: objectField("fields"),
}).meta({ id: "JobLog" });
export type LogBody = z.output<typeof LogBody>;

/** How many lines one request may bring. */
export const MOST_LOGS = 100;
export const LogsBody = z.union([LogBody, z.array(LogBody).max(MOST_LOGS)]).meta({ id: "JobLogs" });

function kindsProblem(value: unknown): FieldProblem | null {
  const field = "kinds";
  if (!isTexts(value)) return { message: "kinds must be a list of strings", field, constraint: "type" };
  if (value.length === 0 || value.length > MOST_KINDS) {
    return { message: `kinds may hold 1 to ${MOST_KINDS}`, field, constraint: "length", min: 1, max: MOST_KINDS };
  }
  const isNamed = value.every((kind) => RELAY_ID.test(kind) || RELAY_ID.test(repoOfKind(kind) ?? ""));
  return isNamed ? null : { message: "kinds must be letters, digits and . _ : -", field, constraint: "format" };
}

function pathsProblem(value: unknown): FieldProblem | null {
  const field = "artifacts";
  if (!isTexts(value)) return { message: "artifacts must be a list of paths", field, constraint: "type" };
  if (value.length > MOST_NAMED) {
    return { message: `artifacts may hold ${MOST_NAMED}`, field, constraint: "length", min: 0, max: MOST_NAMED };
  }
  const arePaths = value.every(isArtifactPath);
  return arePaths ? null : { message: "artifacts must be relative paths", field, constraint: "format" };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
