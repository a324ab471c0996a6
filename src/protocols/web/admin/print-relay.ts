import type { MinuteFigures } from "../../../asks/model/figures.ts";
import { jobTitle } from "../../../asks/model/job-title.ts";
import type { Job, AskAnswer, Ask } from "../../../asks/model/ask.ts";
import type { JobNews } from "../../../asks/follow-job.ts";
import type { CachedDecision } from "../../../asks/forget-decisions.ts";
import type { AskLine, HourFigures, JobLine, LateAnswer, RelayNews } from "../../../asks/watch.ts";
import type {
  WireAdminAnswer,
  WireAdminAskLine,
  WireAdminJob,
  WireAdminJobAsk,
  WireAdminJobEvent,
  WireAdminJobLine,
  WireHourFigures,
  WireLateAnswer,
} from "../../../wire/relay/admin.ts";
import type { WireCachedDecision } from "../../../wire/relay/cached-decision.ts";
import { timeText } from "./access-routes.ts";

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timeText(ms));

/** Returns one ask as a line of a list. */
export function askLine(line: AskLine): WireAdminAskLine {
  const { id, jobId, stepId, type, prompt, principal, status, stage, source } = line;
  return {
    id,
    job: jobId,
    step: stepId,
    type,
    prompt,
    by: principal,
    status,
    stage,
    source,
    answered_by: line.answeredBy,
    error_code: line.errorCode,
    created_at: timeText(line.createdAt),
    ended_at: timeOrNull(line.endedAt),
  };
}

/** Returns one job as a line of a list. */
export function jobLine(line: JobLine): WireAdminJobLine {
  const { id, title, kind, state, reason, epoch, external, owner, holder } = line;
  return {
    id,
    title,
    kind,
    state,
    reason,
    epoch,
    external,
    owner,
    holder,
    pending_asks: line.pendingAsks,
    created_at: timeText(line.createdAt),
    updated_at: timeText(line.updatedAt),
  };
}

/** Returns an ask with its context, and its answer. */
export function askWhole(ask: Ask, answer: AskAnswer | null): WireAdminJobAsk {
  const { id, jobId, stepId, type, prompt, principal, status, stage, stages, epoch, meta, envelope } = ask;
  return {
    id,
    job: jobId,
    step: stepId,
    type,
    prompt,
    by: principal,
    status,
    stage,
    stages: [...stages],
    epoch,
    meta,
    envelope: envelope && { ...envelope },
    role: ask.roleId,
    constraints: { ...ask.constraints },
    context_hash: ask.contextHash,
    joined_to: ask.joinedTo,
    decision_key: ask.decisionKey,
    consent_digest: ask.consentDigest,
    question_id: ask.questionId,
    created_at: timeText(ask.createdAt),
    expires_at: timeText(ask.expiresAt),
    answer: answer && answerWhole(answer),
  };
}

/** Returns an answer with the grounds it was given on. */
function answerWhole(answer: AskAnswer): WireAdminAnswer {
  return {
    status: answer.status,
    source: answer.source,
    by: answer.principal,
    answered_by: answer.answeredBy ?? null,
    text: answer.text ?? null,
    json: answer.json ?? null,
    artifacts: [...(answer.artifacts ?? [])],
    error: answer.error ?? null,
    error_code: answer.errorCode ?? null,
    ask_back: answer.askBack ?? null,
    policy_trace: answer.policyTrace ? { ...answer.policyTrace } : null,
    attestation: answer.attestation ? { ...answer.attestation } : null,
    cacheable: answer.cacheable,
    truncated: answer.truncated,
    at: timeText(answer.createdAt),
  };
}

export function lateAnswer({ principal, status, text, at }: LateAnswer): WireLateAnswer {
  return { by: principal, status, text, at: timeText(at) };
}

/** Returns a job with what it is for and what came of it; `seq` is the number of its newest event. */
export function jobWhole(job: Job, seq: number): WireAdminJob {
  const { id, kind, state, reason, epoch, attempts, external, owner, holder, env, repo, labels, priority } = job;
  return {
    id,
    title: jobTitle(job),
    kind,
    state,
    reason,
    epoch,
    attempts,
    external,
    owner,
    holder,
    env,
    repo,
    labels,
    priority,
    max_attempts: job.maxAttempts,
    pending_asks: job.pendingAsks,
    artifacts: [...(job.artifacts ?? [])],
    spec: job.spec ?? null,
    result: job.result ?? null,
    lease_until: timeOrNull(job.leaseUntil),
    created_at: timeText(job.createdAt),
    updated_at: timeText(job.updatedAt),
    ttl_until: timeText(job.ttlUntil),
    seq,
  };
}

/** Returns what happened to a job as a line of a list. */
export function jobEvent(news: JobNews): WireAdminJobEvent {
  return { seq: news.seq, ...jobNews(news) };
}

/** Returns what happened to a job: of an answer only whose it is and how it ended. */
export function jobNews(news: JobNews): Omit<WireAdminJobEvent, "seq"> {
  if (news.kind === "answer") {
    const { askId, stepId, status, source, createdAt } = news.answer;
    return { event: "answer", data: { ask_id: askId, step_id: stepId, status, source, at: createdAt } };
  }
  return { event: news.kind, data: news.body };
}

export function relayNews(
  news: RelayNews,
): { asks: WireAdminAskLine[] } | { jobs: WireAdminJobLine[] } | WireHourFigures {
  if (news.kind === "asks") return { asks: news.asks.map(askLine) };
  if (news.kind === "jobs") return { jobs: news.jobs.map(jobLine) };
  return hourFigures(news.figures);
}

/** Returns the figures of an hour. */
function hourFigures({ minutes, pending }: HourFigures): WireHourFigures {
  return { minutes: minutes.map(minute), pending };
}

function minute({ at, stages, by, p95Ms }: MinuteFigures): WireHourFigures["minutes"][number] {
  return { at: timeText(at), stages, by, p95_ms: p95Ms };
}

/** Returns an earlier decision that may be repeated. */
export function cachedDecision(one: CachedDecision): WireCachedDecision {
  return {
    key: one.key,
    text: one.text,
    json: one.json ?? null,
    role: one.role,
    source: one.source,
    answered_by: one.answeredBy,
    model: one.attestation?.model ?? null,
    hits: one.hits,
    created_at: timeText(one.createdAt),
    expires_at: timeText(one.createdAt + one.ttlS * 1000),
    last_hit_at: timeOrNull(one.lastHitAt),
  };
}
