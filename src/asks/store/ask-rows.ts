import type { AskType } from "../../core/model/ask-type.ts";
import { readExactJson } from "../../lib/json/exact-json.ts";
import type {
  AskConstraints,
  AskReports,
  AskStatus,
  ChoiceOption,
  ContextEnvelope,
  Ask,
  Stage,
  StageRecord,
} from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import { raw, sql } from "../../core/store/sql.ts";
import { frozenFlag } from "../../policy/store/freezes.ts";

/** One row of `asks`, with the store's clock. */
export interface AskRow {
  ask_id: string;
  job_id: string;
  step_id: string;
  ask_type: AskType;
  prompt: string;
  context_hash: string;
  constraints_json: string;
  role_id: string | null;
  meta_json: string;
  created_at: number;
  status: AskStatus;
  epoch: number;
  principal: string;
  stage: Stage;
  expires_at: number;
  ended_at: number | null;
  same_hash: string;
  decision_key: string | null;
  consent_digest: string | null;
  joined_to: string | null;
  addressed_id: string | null;
  question_id: string | null;
  respond_at: number | null;
  tries: number;
  wire: string;
  now: number;
  frozen: number;
}

/** The parts of an ask that are stored as JSON and never queried; `call` is the `sealedCall`. */
export interface AskWire {
  envelope: ContextEnvelope | null;
  bodyHash: string;
  options: readonly ChoiceOption[];
  stages: readonly StageRecord[];
  warnings: readonly { path: string; rule: string }[];
  /** Its hash did not fit its envelope when it came. */
  mismatch: boolean;
  traceparent: string | undefined;
  reports?: AskReports | undefined;
  call?: string | null;
  /** The policy's decision and its reasons, once it was evaluated. */
  trace?: PolicyTrace | null;
}

/** An ask with what only its handling needs, and the store's clock, read by one statement. */
export interface AskAt {
  ask: Ask;
  bodyHash: string;
  sameHash: string;
  options: readonly ChoiceOption[];
  warnings: readonly { path: string; rule: string }[];
  mismatch: boolean;
  /** The call that an approval of it approves, sealed for its id; null where that follows from the ask. */
  sealedCall: string | null;
  /** The policy's decision and its reasons; null until it is stored. */
  policyTrace: PolicyTrace | null;
  tries: number;
  now: number;
  /** Its principal is frozen. */
  isFrozen: boolean;
}

/** Returns constraints as `constraints_json` holds them: in the names of the protocol (spec/relay 3 and 16). */
export function constraintsText({ timeoutS, maxTokens, allowedTools }: AskConstraints): string {
  return JSON.stringify({ timeout_s: timeoutS, max_tokens: maxTokens, allowed_tools: allowedTools });
}

/** Rows of earlier versions have the names of the program. */
type StoredConstraints = AskConstraints & {
  timeout_s?: number;
  max_tokens?: number;
  allowed_tools?: readonly string[];
};

function readConstraints(text: string): AskConstraints {
  const stored = JSON.parse(text) as StoredConstraints;
  const timeoutS = stored.timeout_s ?? stored.timeoutS;
  const maxTokens = stored.max_tokens ?? stored.maxTokens;
  const allowedTools = stored.allowed_tools ?? stored.allowedTools;
  return {
    ...(timeoutS !== undefined && { timeoutS }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(allowedTools && { allowedTools }),
  };
}

/** The column that says whether the principal of an ask is frozen. */
export const FROZEN = frozenFlag(raw("principal"));

/** True of an ask whose asker set its deadline; within a JSON text these characters would be escaped. */
export const HAS_OWN_DEADLINE = sql`(constraints_json LIKE '%"timeout_s":%' OR constraints_json LIKE '%"timeoutS":%')`;

/** Returns what a row says. */
export function toAt(row: AskRow): AskAt {
  const wire = readExactJson(row.wire) as AskWire;
  return {
    ask: {
      id: row.ask_id,
      jobId: row.job_id,
      stepId: row.step_id,
      type: row.ask_type,
      prompt: row.prompt,
      contextHash: row.context_hash,
      envelope: wire.envelope,
      constraints: readConstraints(row.constraints_json),
      roleId: row.role_id,
      meta: readExactJson(row.meta_json) as Record<string, unknown>,
      principal: row.principal,
      epoch: row.epoch,
      status: row.status,
      stage: row.stage,
      stages: wire.stages,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      joinedTo: row.joined_to,
      addressedId: row.addressed_id,
      questionId: row.question_id,
      decisionKey: row.decision_key,
      consentDigest: row.consent_digest,
      ...(wire.traceparent !== undefined && { traceparent: wire.traceparent }),
      ...(wire.reports !== undefined && { reports: wire.reports }),
    },
    bodyHash: wire.bodyHash,
    sameHash: row.same_hash,
    options: wire.options,
    warnings: wire.warnings,
    mismatch: wire.mismatch,
    sealedCall: wire.call ?? null,
    policyTrace: wire.trace ?? null,
    tries: row.tries,
    now: row.now,
    isFrozen: row.frozen === 1,
  };
}

/** Returns the text of `wire` of an ask with these stages and, if policy was asked, its decision. */
export function wireWith(held: AskAt, stages: readonly StageRecord[], policyTrace: PolicyTrace | null): string {
  const { bodyHash, options, warnings, mismatch, sealedCall: call } = held;
  const { envelope, traceparent, reports } = held.ask;
  const trace = policyTrace ?? held.policyTrace;
  const wire: AskWire = { envelope, bodyHash, options, stages, warnings, mismatch, traceparent, reports, call, trace };
  return JSON.stringify(wire);
}
