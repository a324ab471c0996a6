import type { Context } from "../context.ts";
import type { Request } from "../requests/model/request.ts";
import { askerOf } from "./model/attempt-asked.ts";
import { everyRow, type ListPage, type ListPosition, pageOf } from "../core/model/list-page.ts";
import type { AskAnswer, Ask } from "../asks/model/ask.ts";
import { Refusal } from "../refusals.ts";
import { listAttempts, type StoredAttempt } from "./store/attempts.ts";
import { findTask } from "./store/tasks.ts";
import { listAskedBy } from "../requests/store/requests.ts";
import type { Queryable } from "../core/store/db.ts";
import { findAnswers } from "../asks/store/answers.ts";
import { listAsksOfJob } from "../asks/store/asks.ts";
import { nameOfDecider } from "./attempt-asked.ts";

/** A request of an agent: made by a step of its work, or by its own tools for people. */
export type TaskAsk = StepAsk | ToolAsk;

interface StepAsk {
  attempt: number;
  ask: Ask;
  answer: AskAnswer | null;
}

export interface ToolAsk {
  attempt: number;
  addressed: Request;
  /** The name of the person or program that decided it. */
  by: string | null;
}

/** Where a page of what a task's agents asked ended. */
export interface TaskAskPlace extends ListPosition {
  attempt: number;
}

export interface TaskAsks {
  /** Attempt by attempt, the oldest first. */
  asks: TaskAsk[];
  /** Null after the last. */
  next: TaskAskPlace | null;
}

type Asking = Pick<StoredAttempt, "attemptId" | "jobId" | "n">;

/** Returns one page of what the agents of a task asked. @throws {Refusal} `task_not_found` */
export async function readTaskAsks(
  { db }: Pick<Context, "db">,
  { repo, id }: { repo: string; id: string },
  page: { after?: TaskAskPlace; limit: number },
): Promise<TaskAsks> {
  if (!(await findTask(db, repo, id))) throw new Refusal("task_not_found", { id });
  return asksOf(db, await listAttempts(db, repo, id), page);
}

/** Returns one page of what these attempts of a task asked, which are in their order. */
export async function asksOf(
  on: Queryable,
  attempts: readonly Asking[],
  { after, limit }: { after?: TaskAskPlace; limit: number },
): Promise<TaskAsks> {
  const asks: TaskAsk[] = [];
  for (const attempt of attempts.filter(({ n }) => n >= (after?.attempt ?? 0))) {
    const from = after?.attempt === attempt.n ? { after } : {};
    // One more than requested shows whether there is another page.
    const { items } = await pageOfAttempt(on, attempt, { ...from, limit: limit + 1 - asks.length });
    asks.push(...items);
    if (asks.length > limit) break;
  }
  const { items, next } = pageOf(asks, limit, placeOf);
  const last = items.at(-1);
  return { asks: items, next: next && last ? { ...next, attempt: last.attempt } : null };
}

const READ_AT_ONCE = 500;

/** Returns everything that an attempt asked, the oldest first. */
export async function everyAskOf(on: Queryable, attempt: Asking): Promise<TaskAsk[]> {
  return everyRow((from) => pageOfAttempt(on, attempt, { ...from, limit: READ_AT_ONCE }));
}

async function pageOfAttempt(
  on: Queryable,
  { attemptId, jobId, n }: Asking,
  { limit, ...from }: { after?: ListPosition; limit: number },
): Promise<ListPage<TaskAsk>> {
  const most = { ...from, limit: limit + 1 };
  const steps = (await listAsksOfJob(on, jobId, most)).map(({ ask }): TaskAsk => ({ attempt: n, ask, answer: null }));
  const asked = (await listAskedBy(on, askerOf(attemptId), most)).map((addressed): TaskAsk => {
    return { attempt: n, addressed, by: null };
  });
  const { items, next } = pageOf([...steps, ...asked].sort(byPlace), limit, placeOf);
  const answers = await findAnswers(
    on,
    items.flatMap((one) => ("ask" in one ? [one.ask.id] : [])),
  );
  return { items: await Promise.all(items.map((one) => withEnd(on, one, answers))), next };
}

async function withEnd(on: Queryable, one: TaskAsk, answers: ReadonlyMap<string, AskAnswer>): Promise<TaskAsk> {
  if ("ask" in one) return { ...one, answer: answers.get(one.ask.id) ?? null };
  return { ...one, by: await nameOfDecider(on, one.addressed) };
}

function placeOf(one: TaskAsk): ListPosition {
  const { createdAt: at, id } = "ask" in one ? one.ask : one.addressed;
  return { at, id };
}

/** In the order in which the store has them. */
function byPlace(one: TaskAsk, other: TaskAsk): number {
  const [a, b] = [placeOf(one), placeOf(other)];
  return a.at - b.at || (a.id < b.id ? -1 : Number(a.id > b.id));
}
