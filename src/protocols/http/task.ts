import type { RequestId } from "../../core/model/ids.ts";
import { statusOfTask, type TaskEvent } from "../../tasks/model/task.ts";
import { askStatusOf, askTypeOf, outcomeText, safeWordsOf } from "../../tasks/model/attempt-asked.ts";
import { titleOf } from "../../core/model/title.ts";
import type { News } from "../../tasks/follow.ts";
import type { TaskAsk, TaskAsks } from "../../tasks/read-asks.ts";
import type { StoredAttempt, TaskReading, WholeTask } from "../../tasks/read.ts";
import { present } from "../../wire/present.ts";
import type {
  WireTask,
  WireTaskAsk,
  WireTaskAskPage,
  WireTaskAttempt,
  WireTaskEvent,
  WireTaskReset,
  WireWholeTask,
  WireWrittenReview,
} from "../../wire/tasks/task.ts";
import type { DoorContext } from "./door.ts";
import { wireTime } from "./question.ts";

/** The context of a task besides its rows: its address for people, and the readiness of agents here. */
type Around = Pick<DoorContext, "ctx" | "config" | "work">;

const inboxUrl = (publicUrl: string, requestId: RequestId): string => `${publicUrl}/inbox/${requestId}`;

/** Returns a task as every wire has it (spec/assignment 2); `commit` exactly while it is completed. */
export function taskWire(reading: TaskReading, around: Around): WireTask {
  const { task, agent, dependencies, blockedBy, newest, question } = reading;
  const { publicUrl } = around.config;
  const sandbox = newest?.generation === task.generation ? newest.sandbox : null;
  return present<WireTask>({
    repo: task.repo,
    id: task.id,
    submittedAt: wireTime(task.submittedAt),
    status: statusOfTask(task.state),
    state: task.state,
    commit: task.commit,
    title: task.title,
    attempt: task.attempt,
    agent,
    branch: task.branch,
    changed: task.changed,
    diffstat: task.diffstat,
    ref: task.commit === null ? null : `refs/aa/${task.slug}/${task.attempt}`,
    dependencies,
    blockedBy,
    blockedReason: task.blockedReason ?? obstacleTo(reading, around),
    conflict: task.conflict,
    stale: task.stale,
    error: task.error,
    sandbox,
    sandboxNotice: sandbox === "none" ? around.work?.sandboxNotice() : null,
    warnings: task.warnings.length > 0 ? task.warnings : null,
    question: question && {
      askId: question.subjectId,
      summary: titleOf(question.prompt),
      url: question.addressedId === null ? `${publicUrl}/inbox` : inboxUrl(publicUrl, question.addressedId),
    },
    reviewUrl: task.reviewAsk === null ? null : inboxUrl(publicUrl, task.reviewAsk),
  });
}

/** Returns why the agent of a task that is in line cannot be given work on this machine; nothing where it can. */
function obstacleTo({ task, agent }: TaskReading, { ctx, work }: Around): string | null {
  const isHere = ctx.assignment.repos.some(({ name, path }) => name === task.repo && path !== null);
  if (task.state !== "queued" || agent === null || !isHere || !work) return null;
  return work.readiness(agent).why;
}

/** Returns a task with its prompt, attempts, reviews and asks. */
export function wholeTaskWire(
  whole: WholeTask,
  around: Around,
  tree: WireWholeTask["tree"] | null = null,
): Omit<WireWholeTask, "notes"> {
  const { asks, next } = taskAsksWire(whole.asked, around);
  const { task, prompt, attempts, reviews } = whole;
  return {
    ...taskWire(whole, around),
    prompt,
    ...present<Pick<WireWholeTask, "base" | "startDependentsOn" | "tree">>({
      base: task.base,
      startDependentsOn: task.startOn,
      tree,
    }),
    attempts: attempts.map(attemptWire),
    reviews: reviews.map(({ attempt, decision, comment, comments, principal, name, at }) =>
      present<WireWrittenReview>({
        attempt,
        verdict: decision,
        comment,
        comments,
        by: name ?? principal,
        at: wireTime(at),
      }),
    ),
    asks,
    asksNext: next,
  };
}

/** Returns one page of what a task's agents asked. */
export function taskAsksWire(
  { asks, next }: TaskAsks,
  { config: { publicUrl } }: Pick<Around, "config">,
): WireTaskAskPage {
  return {
    asks: asks.map((one) => ("ask" in one ? askWire(one, publicUrl) : requestWire(one, publicUrl))),
    next: next && `${next.attempt}.${next.at}_${next.id}`,
  };
}

function attemptWire(attempt: StoredAttempt): WireTaskAttempt {
  const { n, state, outcome, agent, agentVersion, sandbox, resumes, changed, usage, startedAt, endedAt } = attempt;
  return present<WireTaskAttempt>({
    n,
    state,
    outcome,
    agent,
    agentVersion,
    sandbox,
    resumes,
    changed,
    usage,
    start: attempt.startSha,
    commit: attempt.commitSha,
    jobId: attempt.jobId,
    startedAt: wireTime(startedAt),
    endedAt: endedAt === null ? null : wireTime(endedAt),
  });
}

function askWire({ attempt, ask, answer }: Extract<TaskAsk, { ask: unknown }>, publicUrl: string): WireTaskAsk {
  return present<WireTaskAsk>({
    askId: ask.id,
    attempt,
    type: ask.type,
    summary: titleOf(ask.prompt),
    prompt: ask.prompt,
    state: ask.status,
    url: ask.addressedId === null ? null : inboxUrl(publicUrl, ask.addressedId),
    askedAt: wireTime(ask.createdAt),
    answeredAt: answer && wireTime(answer.createdAt),
    answer: answer?.text ?? answer?.error,
    by: answer?.answeredBy ?? answer?.source,
  });
}

function requestWire(
  { attempt, addressed: request, by }: Extract<TaskAsk, { addressed: unknown }>,
  publicUrl: string,
): WireTaskAsk {
  const { title, words } = safeWordsOf(request);
  return present<WireTaskAsk>({
    askId: request.id,
    attempt,
    type: askTypeOf(request),
    summary: titleOf(title),
    prompt: words,
    state: askStatusOf(request),
    url: inboxUrl(publicUrl, request.id),
    askedAt: wireTime(request.createdAt),
    ...(request.outcome && { answer: outcomeText(request, request.outcome), by: by ?? "server" }),
    answeredAt: request.settledAt === null ? null : wireTime(request.settledAt),
  });
}

/** Returns one event of a task; what it tells stands beside its number, and never in the place of it. */
export function taskEventWire({ data, ...event }: TaskEvent & { id?: string }): WireTaskEvent {
  const { seq, at, attempt, type, id } = event;
  return { ...data, ...(id !== undefined && { id }), seq, at: new Date(at).toISOString(), attempt, type };
}

/** Returns a task event as an event of a stream. */
export function taskNews(news: News<TaskEvent & { id?: string }>): { event: string; id: string; data: string } {
  if ("reset" in news) {
    const data: WireTaskReset = { reset: true, seq: news.reset, type: "state" };
    return { event: "state", id: String(news.reset), data: JSON.stringify(data) };
  }
  const { event } = news;
  return { event: event.type, id: String(event.seq), data: JSON.stringify(taskEventWire(event)) };
}
