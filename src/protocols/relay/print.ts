import type { Job, AskAnswer, Ask } from "../../asks/model/ask.ts";
import { withAliases } from "../../wire/aliases.ts";
import type { WireAnswer, WireAsk } from "../../wire/relay/ask.ts";
import type { WireJob } from "../../wire/relay/job.ts";

/** Returns an ask as the wire has it. */
export function askWire(ask: Ask, warnings: readonly WireAsk["warnings"][number][] = []): WireAsk {
  const { timeoutS, maxTokens, allowedTools } = ask.constraints;
  return withAliases<WireAsk>({
    type: "Ask",
    ask_id: ask.id,
    job_id: ask.jobId,
    step_id: ask.stepId,
    ask_type: ask.type,
    prompt: ask.prompt,
    context_hash: ask.contextHash,
    context_envelope: ask.envelope,
    constraints: {
      timeout_s: timeoutS ?? 60,
      max_tokens: maxTokens ?? 512,
      ...(allowedTools && { allowed_tools: allowedTools }),
    },
    role_id: ask.roleId,
    ...(Object.keys(ask.meta).length > 0 && { meta: ask.meta }),
    status: ask.status,
    stage: ask.stage,
    epoch: ask.epoch,
    created_at: ask.createdAt,
    expires_at: ask.expiresAt,
    joined_to: ask.joinedTo,
    consent_digest: ask.consentDigest,
    warnings,
  });
}

/** Returns an answer as the wire has it. */
export function answerWire(answer: AskAnswer): WireAnswer {
  return withAliases<WireAnswer>({
    type: "Answer",
    ask_id: answer.askId,
    job_id: answer.jobId,
    step_id: answer.stepId,
    status: answer.status,
    answer_text: answer.text,
    answer_json: answer.json,
    artifacts: answer.artifacts,
    policy_trace: answer.policyTrace,
    cacheable: answer.cacheable,
    ask_back: answer.askBack,
    error: answer.error,
    error_code: answer.errorCode,
    source: answer.source,
    answered_by: answer.answeredBy,
    consent_digest: answer.consentDigest,
    attestation: answer.attestation,
    ...(answer.truncated && { truncated: true }),
    created_at: answer.createdAt,
  });
}

/** Returns a job as the wire has it. */
export function jobWire(job: Job): WireJob {
  return withAliases<WireJob>({
    job_id: job.id,
    kind: job.kind,
    state: job.state,
    reason: job.reason,
    epoch: job.epoch,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    external: job.external,
    env: job.env,
    repo: job.repo,
    ...(Object.keys(job.labels).length > 0 && { labels: job.labels }),
    priority: job.priority,
    pending_asks: job.pendingAsks,
    spec: job.spec,
    result: job.result,
    artifacts: job.artifacts,
    created_at: job.createdAt,
    updated_at: job.updatedAt,
    lease_expires_at: job.leaseUntil,
  });
}
