/** What an executor may ask for. */
export type AskKind = "CLARIFICATION" | "RESOURCE_FETCH" | "POLICY_DECISION" | "APPROVAL" | "CHOICE";

/** How an ask ended. */
export type AnswerStatus = "ANSWERED" | "REJECTED" | "TIMEOUT" | "ERROR";

export type JobState = "QUEUED" | "RUNNING" | "WAITING_ON_ANSWER" | "SUCCEEDED" | "FAILED" | "CANCELED" | "EXPIRED";

/** The one outcome of an ask. */
export interface Answer<T = unknown> {
  type: "Answer";
  ask_id: string;
  job_id: string;
  step_id: string;
  status: AnswerStatus;
  answer_text?: string;
  answer_json?: T;
  artifacts?: string[];
  policy_trace?: Record<string, unknown>;
  cacheable: boolean;
  ask_back?: string;
  /** `"<E_CODE>: <text>"`. */
  error?: string;
  error_code?: string;
  /** `policy`, `cache`, `runner`, `person`, `service` or `server`. */
  source: string;
  answered_by?: string;
  consent_digest?: string;
  attestation?: { context_hash: string } & Record<string, unknown>;
  truncated?: boolean;
  created_at: number;
}

/** A piece of work. */
export interface Job {
  job_id: string;
  kind: string;
  state: JobState;
  reason?: string;
  epoch: number;
  attempts: number;
  max_attempts: number;
  external: boolean;
  env?: string;
  repo?: string;
  labels?: Record<string, string>;
  priority: "P0" | "P1" | "P2";
  pending_asks: number;
  spec?: unknown;
  result?: unknown;
  artifacts?: string[];
  created_at: number;
  updated_at: number;
  lease_expires_at?: number;
}

/** What shows that a job is held; whoever has the token writes in the job's name. */
export interface Lease {
  token: string;
  epoch: number;
  ttl_s: number;
  expires_at: number;
}

/** How a job ends in its executor's words. */
export interface JobEnd {
  state: "SUCCEEDED" | "FAILED";
  reason?: string;
  result?: unknown;
  artifacts?: string[];
}

/** A line about a job's work. */
export interface JobLog {
  message: string;
  level?: "debug" | "info" | "warn" | "error";
  step_id?: string;
  ask_id?: string;
  fields?: Record<string, unknown>;
}

/** A job's state, as it is told to those who follow it. */
export interface JobStatus {
  job_id: string;
  state: JobState;
  from?: JobState;
  epoch: number;
  pending_asks: number;
  reason?: string;
  at: number;
  /** What came before is no longer told; `snapshot` holds the job and its pending asks. */
  reset?: boolean;
  snapshot?: { job: Job; pending_asks: Record<string, unknown>[] };
}

/** One thing that happened to a job; `id` is where to go on from. */
export type JobEvent =
  | { id: number; event: "status"; data: JobStatus }
  | { id: number; event: "answer"; data: Answer }
  | { id: number; event: "log"; data: JobLog & { job_id: string; event?: string; at: number } };

/** A file of a job. */
export interface Artifact {
  path: string;
  size: number;
  sha256: string;
}

/** What the relay refuses with, beside what every door does. */
export type RelayErrorCode =
  | "ASK_NOT_FOUND"
  | "JOB_NOT_FOUND"
  | "ARTIFACT_NOT_FOUND"
  | "FEATURE_DISABLED"
  | "ASK_ID_CONFLICT"
  | "JOB_CLOSED"
  | "FENCED"
  | "SECRET_DETECTED"
  | "SERVER_ERROR";
