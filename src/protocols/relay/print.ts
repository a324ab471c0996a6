import type { JobNews } from "../../asks/jobs/follow-job.ts";
import type { Job, AskAnswer, Ask } from "../../asks/model/ask.ts";
import { oncePer } from "../../lib/once-per.ts";
import { jobTitle } from "../../asks/model/job-title.ts";
import type { AskHistory, AskLine, JobLine, LateAnswer } from "../../asks/read/all-asks.ts";
import { withAliases } from "../../wire/aliases.ts";
import { present } from "../../wire/present.ts";
import type {
  WireAskLine,
  WireJobEvent,
  WireJobLine,
  WireLateAnswer,
  WireWholeAsk,
  WireWholeJob,
} from "../../wire/relay/admin-view.ts";
import { placeText } from "../http/list-pages.ts";
import type { CallOutcome } from "../../requests/model/call-outcome.ts";
import type { WireAnswer, WireAsk, WireAskOutcome } from "../../wire/relay/ask.ts";
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
      allowed_tools: allowedTools,
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

/** Returns what became of the call that an ask allowed, as the wire has it. */
export function askOutcomeWire({ state, at, words, resultDigest }: CallOutcome): WireAskOutcome {
  return {
    state,
    at,
    ...(words !== null && { text: words }),
    ...(resultDigest !== null && { result_digest: resultDigest }),
  };
}

/** Returns an answer as the wire has it: printed once for all who wait for it. */
export const answerWire = oncePer(printAnswer);

function printAnswer(answer: AskAnswer): WireAnswer {
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

/** Returns an ask as a line of a list. */
export function askLineWire(line: AskLine): WireAskLine {
  const { id, jobId, stepId, type, prompt, principal, status, stage, source } = line;
  return present<WireAskLine>({
    ask_id: id,
    job_id: jobId,
    step_id: stepId,
    ask_type: type,
    prompt,
    status,
    stage,
    asked_by: principal,
    source,
    answered_by: line.answeredBy,
    error_code: line.errorCode,
    created_at: line.createdAt,
    ended_at: line.endedAt,
  });
}

/** Returns an ask with its answer and the first page of each list beside it. */
export function wholeAskWire({ ask, warnings, answer, late, sharedBy }: AskHistory): Omit<WireWholeAsk, "people"> {
  return {
    ...askWire(ask, warnings),
    ...present<Omit<WireWholeAsk, "people" | keyof WireAsk> & Pick<WireAsk, "stages">>({
      stages: ask.stages,
      asked_by: ask.principal,
      decision_key: ask.decisionKey,
      question_id: ask.questionId,
      answer: answer && answerWire(answer),
      late: late.items.map(lateWire),
      late_next: placeText(late.next),
      shared_by: sharedBy.items.map(({ id }) => id),
      shared_by_next: placeText(sharedBy.next),
    }),
  };
}

export function lateWire({ principal, status, text, at }: LateAnswer): WireLateAnswer {
  return present<WireLateAnswer>({ answered_by: principal, status, answer_text: text, at });
}

/** Returns a job as a line of a list. */
export function jobLineWire({ id, pendingAsks, createdAt, updatedAt, ...line }: JobLine): WireJobLine {
  const counted = { pending_asks: pendingAsks, created_at: createdAt, updated_at: updatedAt };
  return present<WireJobLine>({ job_id: id, ...line, ...counted });
}

/** Returns a job with what only admins are told of it; `seq` is the number of its newest event. */
export function wholeJobWire(job: Job, seq: number): WireWholeJob {
  const { owner, holder, ttlUntil } = job;
  const beside = { title: jobTitle(job), owner, expires_at: ttlUntil, seq };
  return { ...jobWire(job), ...beside, ...(holder !== null && { holder }) };
}

/** Returns what happened to a job: of an answer only whose it is and how it ended. */
export function jobEventWire(news: JobNews): WireJobEvent {
  if (news.kind !== "answer") return { seq: news.seq, event: news.kind, data: news.body };
  const { askId, stepId, status, source, createdAt } = news.answer;
  return {
    seq: news.seq,
    event: "answer",
    data: { ask_id: askId, step_id: stepId, status, source, at: createdAt },
  };
}
