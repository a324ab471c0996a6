import type { AskId, QuestionId } from "../../core/model/ids.ts";
import type { AskType } from "../../core/model/ask-type.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";

/** How a relayed ask ended; `PENDING` while it has not. */
export const ASK_STATUSES = ["PENDING", "ANSWERED", "REJECTED", "TIMEOUT", "ERROR"] as const;
export type AskStatus = (typeof ASK_STATUSES)[number];
export type AnswerStatus = Exclude<AskStatus, "PENDING">;

/** The stations of an ask, in order; the first that yields a final answer ends it (spec/relay 7). */
export const STAGES = ["intake", "policy", "cache", "runner", "people"] as const;
export type Stage = (typeof STAGES)[number];

/** The maker of an answer. `server` is Parley itself: a deadline, a cancel, a failed intake. */
export type AnswerSource = "policy" | "cache" | "runner" | "person" | "service" | "server";

/** Why an answer is not a plain one (spec/relay 6). */
const ERROR_CODES = [
  "E_JSON_SCHEMA",
  "E_TOOL_TIMEOUT",
  "E_POLICY_DENY",
  "E_INTERNAL",
  "E_CONTEXT_MISMATCH",
  "E_CAPS_VIOLATION",
  "E_ROLE_NOT_FOUND",
  "E_ROLE_INPUT",
  "E_TOOL_ERROR",
  "E_MODEL",
  "E_BUDGET",
  "E_SIZE",
  "E_TIMEOUT",
  "E_HUMAN_REJECT",
  "E_NO_ANSWERER",
  "E_CANCELED",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The limits of an executor's use of one tool (spec/relay 3, `tool_caps`). */
export interface ToolCaps {
  database?: string;
  tables?: readonly string[];
  read_only?: boolean;
  timeout_ms?: number;
}

/** The circumstances of an ask, hashed as a whole; its inner names are those of the wire. */
export interface ContextEnvelope {
  job_snapshot: { repo?: string; commit_sha?: string; env_profile?: string; policy_version?: string };
  facts?: Readonly<Record<string, unknown>>;
  tool_caps?: Readonly<Record<string, ToolCaps>>;
  role: string;
}

/** Limits that the asker set; what is absent was not given. */
export interface AskConstraints {
  timeoutS?: number;
  maxTokens?: number;
  allowedTools?: readonly string[];
}

/** The outcome of one stage for an ask, and how long the stage took. */
export interface StageRecord {
  stage: Stage;
  /** One word, or a word and a reason: `answered`, `passed: no rule matched`. */
  outcome: string;
  ms: number;
}

/** One of the answers a CHOICE may have. */
export interface ChoiceOption {
  /** Absent where only a label was given. */
  id?: string;
  label: string;
}

/** One ask of an executor. It is decided once; policy, cache, runner and people are offered it in that order. */
export interface Ask {
  id: AskId;
  jobId: string;
  stepId: string;
  type: AskType;
  /** Trimmed. */
  prompt: string;
  contextHash: string;
  /** Null where the asker sent only a hash. */
  envelope: ContextEnvelope | null;
  constraints: AskConstraints;
  /** The role asked for; null for the type's own role. */
  roleId: string | null;
  meta: Readonly<Record<string, unknown>>;
  /** The asker. */
  principal: string;
  /** The fencing number of its job when it was asked. */
  epoch: number;
  status: AskStatus;
  /** The stage it is in, or ended in. */
  stage: Stage;
  stages: readonly StageRecord[];
  createdAt: number;
  /** When it times out: that of the machine stages until people are asked, if the asker set none. */
  expiresAt: number;
  /** The earlier ask whose answer this one shares. */
  joinedTo: string | null;
  /** The ask to people that it became. */
  addressedId: string | null;
  /** The question to the crowd that it became instead. */
  questionId: QuestionId | null;
  decisionKey: string | null;
  /** The digest of the text that people are shown, `sha256:…`; only for an APPROVAL and a POLICY_DECISION. */
  consentDigest: string | null;
  /** The `traceparent` header it came with. */
  traceparent?: string;
  /** The reports that its executor promises of what the ask allows (spec/relay 13). */
  reports?: AskReports;
}

/** An executor reports the start and the end of what an ask allows, or the end alone. */
export const ASK_REPORTS = ["start", "end"] as const;
export type AskReports = (typeof ASK_REPORTS)[number];

/** Says on what grounds a machine answered (spec/relay 4). */
export interface Attestation {
  context_hash: string;
  role_id: string;
  role_version: number;
  model: string;
  prompt_fingerprint: string;
  /** Those really called. */
  tools_used: readonly string[];
  policy_version: string;
}

/** The one outcome of an ask (spec/relay 4). */
export interface AskAnswer {
  askId: AskId;
  jobId: string;
  stepId: string;
  status: AnswerStatus;
  text?: string;
  json?: unknown;
  artifacts?: readonly string[];
  policyTrace?: PolicyTrace;
  cacheable: boolean;
  askBack?: string;
  /** `"<code>: <text>"`. */
  error?: string;
  errorCode?: ErrorCode;
  source: AnswerSource;
  /** Principal, person id, or empty for the server. */
  principal: string;
  /** Display name of a person or service. */
  answeredBy?: string;
  consentDigest?: string;
  attestation?: Attestation;
  truncated: boolean;
  createdAt: number;
}

/** The states of a job (spec/relay 2). */
export const JOB_STATES = [
  "QUEUED",
  "RUNNING",
  "WAITING_ON_ANSWER",
  "SUCCEEDED",
  "FAILED",
  "CANCELED",
  "EXPIRED",
] as const;
export type JobState = (typeof JOB_STATES)[number];

export const PRIORITIES = ["P0", "P1", "P2"] as const;
export type Priority = (typeof PRIORITIES)[number];

/** A piece of work whose executor asks (spec/relay 2). */
export interface Job {
  id: string;
  kind: string;
  state: JobState;
  reason: string | null;
  epoch: number;
  attempts: number;
  maxAttempts: number;
  /** Run by somebody who claims nothing and holds no lease. */
  external: boolean;
  /** The principal who made it. */
  owner: string;
  /** The holder of the lease. */
  holder: string | null;
  leaseUntil: number | null;
  spec: unknown;
  result: unknown;
  /** Paths of those artifacts that are its result; null where none were named. */
  artifacts: readonly string[] | null;
  env: string | null;
  repo: string | null;
  labels: Readonly<Record<string, string>>;
  priority: Priority;
  pendingAsks: number;
  /** A report was promised of a call that one of its asks may allow, or one of them was started. */
  awaitsReports: boolean;
  ttlUntil: number;
  createdAt: number;
  updatedAt: number;
}

/** Returns whether a job has ended. */
export function isOver(state: JobState): boolean {
  return state === "SUCCEEDED" || state === "FAILED" || state === "CANCELED" || state === "EXPIRED";
}

const CODES: ReadonlySet<string> = new Set(ERROR_CODES);

/** Returns the code that an error's text begins with, where it begins with one. */
export function codeIn(error: string): ErrorCode | null {
  const code = /^(E_[A-Z_]+): /.exec(error)?.[1];
  return code !== undefined && CODES.has(code) ? (code as ErrorCode) : null;
}

/** Returns an error's text as it goes over the wire. */
export function errorText(code: ErrorCode, text: string): string {
  return `${code}: ${text}`;
}
