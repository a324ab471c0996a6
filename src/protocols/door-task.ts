import { statusOfTask, type TaskEvent } from "../model/assignment.ts";
import type { RelayAnswer, RelayAsk } from "../model/relay.ts";
import { titleOf } from "../model/title.ts";
import type { News } from "../verbs/follow-task.ts";
import type { StoredAttempt, TaskReading, WholeTask } from "../verbs/read-tasks.ts";
import type { DoorContext } from "./door.ts";
import { wireTime } from "./door-question.ts";

/** What is known of a task beside the rows: where people find it, and what stands in the way of agents here. */
type Around = Pick<DoorContext, "ctx" | "config" | "work">;

type Wire = Readonly<Record<string, unknown>>;

/** Returns a body without what is absent. */
function present(body: Wire): Wire {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined));
}

const inboxUrl = (publicUrl: string, askId: string): string => `${publicUrl}/inbox/${askId}`;

/** Returns a task as every wire has it (contract-assignment.md, section 2); `commit` exactly while it is completed. */
export function taskWire(reading: TaskReading, around: Around): Wire {
  const { task, agent, dependencies, blockedBy, newest, question } = reading;
  const { publicUrl } = around.config;
  const sandbox = newest?.generation === task.generation ? newest.sandbox : null;
  return present({
    ...{ repo: task.repo, id: task.id, submittedAt: wireTime(task.submittedAt) },
    ...{ status: statusOfTask(task.state), state: task.state, commit: task.commit, title: task.title },
    ...{ attempt: task.attempt, agent, branch: task.branch, changed: task.changed, diffstat: task.diffstat },
    ref: task.commit === null ? null : `refs/aa/${task.slug}/${task.attempt}`,
    ...{ dependencies, blockedBy, blockedReason: task.blockedReason ?? obstacleTo(reading, around) },
    ...{ stale: task.stale, error: task.error },
    ...{ sandbox, sandboxNotice: sandbox === "none" ? around.work?.sandboxNotice() : null },
    warnings: task.warnings.length > 0 ? task.warnings : null,
    question: question && {
      ...{ askId: question.askId, summary: titleOf(question.prompt) },
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
export function wholeTaskWire(whole: WholeTask, around: Around, more: Wire = {}): Wire {
  const { publicUrl } = around.config;
  const { task, prompt, attempts, reviews, asks } = whole;
  return {
    ...taskWire(whole, around),
    prompt,
    ...present({ base: task.base, startDependentsOn: task.startOn, ...more }),
    attempts: attempts.map(attemptWire),
    reviews: reviews.map(({ attempt, verdict, comment, comments, principal, name, at }) =>
      present({ attempt, verdict, comment, comments, by: name ?? principal, at: wireTime(at) }),
    ),
    asks: asks.map(({ attempt, ask, answer }) => askWire(attempt, ask, answer, publicUrl)),
  };
}

function attemptWire(attempt: StoredAttempt): Wire {
  const { n, state, outcome, agent, agentVersion, sandbox, resumes, changed, usage, startedAt, endedAt } = attempt;
  return present({
    ...{ n, state, outcome, agent, agentVersion, sandbox, resumes, changed, usage },
    ...{ start: attempt.startSha, commit: attempt.commitSha, jobId: attempt.jobId },
    ...{ startedAt: wireTime(startedAt), endedAt: endedAt === null ? null : wireTime(endedAt) },
  });
}

function askWire(attempt: number, ask: RelayAsk, answer: RelayAnswer | null, publicUrl: string): Wire {
  return present({
    ...{ askId: ask.id, attempt, type: ask.type, summary: titleOf(ask.prompt), prompt: ask.prompt, state: ask.status },
    url: ask.addressedId === null ? null : inboxUrl(publicUrl, ask.addressedId),
    ...{ askedAt: wireTime(ask.createdAt), answeredAt: answer && wireTime(answer.createdAt) },
    ...{ answer: answer?.text ?? answer?.error, by: answer?.answeredBy ?? answer?.source },
  });
}

/** Returns one event of a task; what it tells stands beside its number, and never in the place of it. */
export function taskEventWire({ data, ...event }: TaskEvent & { id?: string }): Wire {
  const { seq, at, attempt, type, id } = event;
  return { ...data, ...(id !== undefined && { id }), seq, at: new Date(at).toISOString(), attempt, type };
}

/** Returns what a follower is told, as an event of a stream. */
export function taskNews(news: News<TaskEvent & { id?: string }>): { event: string; id: string; data: string } {
  if ("reset" in news) {
    const data = { reset: true, seq: news.reset, type: "state" };
    return { event: "state", id: String(news.reset), data: JSON.stringify(data) };
  }
  const { event } = news;
  return { event: event.type, id: String(event.seq), data: JSON.stringify(taskEventWire(event)) };
}
