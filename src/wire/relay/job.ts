/** An executor's job, as it travels (spec/relay 2 and 5). */
import { z } from "zod";
import { isArtifactPath } from "../../asks/model/artifact-rules.ts";
import { JOB_STATES, PRIORITIES } from "../../asks/model/ask.ts";
import { LEASE_S, LOG_LEVELS } from "../../asks/model/job-rules.ts";
import { repoOfKind } from "../../core/model/attempt-kind.ts";
import { aliased } from "../aliases.ts";
import { WireAsk } from "./ask.ts";
import { integer, later, rule, text, texts } from "../fields.ts";
import { json, labels, object, RELAY_ID, relayId } from "./fields.ts";

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

const kinds = texts()
  .check(
    rule((given) => {
      if (given.length === 0 || given.length > MOST_KINDS) {
        return { says: `may hold 1 to ${MOST_KINDS}`, constraint: "length", min: 1, max: MOST_KINDS };
      }
      const areNames = given.every((kind) => RELAY_ID.test(kind) || RELAY_ID.test(repoOfKind(kind) ?? ""));
      return areNames ? null : { says: "must be letters, digits and . _ : -", constraint: "format" };
    }),
  )
  .meta({ minItems: 1, maxItems: MOST_KINDS });

const artifacts = texts("must be a list of paths")
  .check(
    rule((paths) => {
      if (paths.length > MOST_NAMED) {
        return { says: `may hold ${MOST_NAMED}`, constraint: "length", min: 0, max: MOST_NAMED };
      }
      return paths.every(isArtifactPath) ? null : { says: "must be relative paths", constraint: "format" };
    }),
  )
  .meta({ maxItems: MOST_NAMED });

export const NewJobBody = z
  .object({
    job_id: relayId.optional(),
    kind: relayId.optional(),
    external: z.boolean().optional(),
    spec: json.optional(),
    env: text(1, 128).optional(),
    repo: text(1, 1000).optional(),
    labels: labels.optional(),
    priority: z.enum(PRIORITIES).optional(),
    ttl_s: integer(1, MOST_TTL_S).optional(),
    max_attempts: integer(1, MOST_ATTEMPTS).optional(),
  })
  .meta({ id: "NewJob" });
export type NewJobBody = z.output<typeof NewJobBody>;

export const ClaimBody = z
  .object({
    kinds: kinds.optional(),
    worker_id: text(1, 128),
    lease_ttl_s: integer(LEASE_S.least, LEASE_S.most).optional(),
    wait: later<string>({ type: "string", description: "Such as 25s; a bare number means seconds." }),
  })
  .meta({ id: "JobClaim" });
export type ClaimBody = z.output<typeof ClaimBody>;

export const HeartbeatBody = z
  .object({ type: z.literal("Heartbeat").optional(), note: text(1, 4000).optional() })
  .meta({
    id: "Heartbeat",
  });
export type HeartbeatBody = z.output<typeof HeartbeatBody>;

export const ReasonBody = z.object({ reason: text(1, 1000).optional() }).meta({ id: "Reason" });
export type ReasonBody = z.output<typeof ReasonBody>;

export const FinishBody = z
  .object({
    state: z.enum(["SUCCEEDED", "FAILED"]),
    reason: text(1, 1000).optional(),
    result: json.optional(),
    artifacts: artifacts.optional(),
  })
  .meta({ id: "JobEnd" });
export type FinishBody = z.output<typeof FinishBody>;

export const LogBody = z
  .object({
    type: z.literal("Log").optional(),
    step_id: relayId.optional(),
    ask_id: relayId.optional(),
    level: z.enum(LOG_LEVELS).optional(),
    message: text(1, 16_000),
    fields: object.optional(),
  })
  .meta({ id: "JobLog" });
export type LogBody = z.output<typeof LogBody>;

/** How many lines one request may bring. */
export const MOST_LOGS = 100;
export const LogsBody = z.union([LogBody, z.array(LogBody).max(MOST_LOGS)]).meta({ id: "JobLogs" });
