import type { Context } from "../context.ts";
import type { Review, Task } from "./model/task.ts";
import { missingOf, type TaskDependency } from "./model/dependencies.ts";
import { Refusal } from "../refusals.ts";
import {
  listAttempts,
  listNewestAttempts,
  listTaskQuestions,
  type StoredAttempt,
  type TaskQuestion,
} from "./store/attempts.ts";
import { listDependencies } from "./store/dependencies.ts";
import { findBoardSeq } from "./store/events.ts";
import { listReviews } from "./store/reviews.ts";
import { findTask, headOf, listTaskHeads, type TaskHead } from "./store/tasks.ts";
import { findHumans } from "../access/store/humans.ts";
import { dependencyFrom } from "./move.ts";
import { asksOf, type TaskAsks } from "./read-asks.ts";

export type { StoredAttempt, TaskQuestion } from "./store/attempts.ts";
export type { TaskHead } from "./store/tasks.ts";

/** A task as lists show it, with what follows from others. */
export interface TaskReading {
  task: TaskHead;
  /** The agent that works on it, or will. */
  agent: string | null;
  dependencies: readonly string[];
  /** Those it waits for; none once it has started. */
  blockedBy: readonly string[];
  newest: StoredAttempt | null;
  /** The question that its attempt waits for. */
  question: TaskQuestion | null;
}

/** A task with everything that happened to it. */
export interface WholeTask extends TaskReading {
  prompt: string;
  attempts: readonly StoredAttempt[];
  reviews: readonly (Review & { name: string | null })[];
  /** The first page of what its agents asked. */
  asked: TaskAsks;
}

type Reads = Pick<Context, "db" | "assignment">;

/**
 * Returns a repository's tasks, the oldest first: all, or those that are named. `seq` is a number of its board that what
 * is returned has in it at least.
 */
export async function readTasks(
  ctx: Reads,
  repo: string,
  ids?: readonly string[],
): Promise<{ seq: number; tasks: TaskReading[] }> {
  const seq = await findBoardSeq(ctx.db, repo);
  const [heads, links, newest, questions] = await Promise.all([
    listTaskHeads(ctx.db, repo, ids),
    listDependencies(ctx.db, repo, ids),
    listNewestAttempts(ctx.db, repo, ids),
    listTaskQuestions(ctx.db, repo),
  ]);
  const named = new Map<string, string[]>();
  for (const { id, dependsOn } of links) named.set(id, [...(named.get(id) ?? []), dependsOn]);
  const byId = new Map(heads.map((head) => [head.id, head]));
  const others = ids
    ? new Set(links.map(({ dependsOn }) => dependsOn).filter((id) => !byId.has(id)))
    : new Set<string>();
  for (const head of await listTaskHeads(ctx.db, repo, [...others])) byId.set(head.id, head);
  const attempts = new Map(newest.map((attempt) => [attempt.id, attempt]));
  // Each one's oldest.
  const asked = new Map(questions.toReversed().map((question) => [question.id, question]));
  const usual = ctx.assignment.repos.find(({ name }) => name === repo)?.agent ?? null;

  const tasks = heads.map((task): TaskReading => {
    const dependencies = named.get(task.id) ?? [];
    const attempt = attempts.get(task.id) ?? null;
    const isOfThis = attempt?.generation === task.generation;
    return {
      task,
      dependencies,
      newest: attempt,
      agent: (isOfThis ? attempt.agent : task.agent) ?? usual,
      blockedBy: blockedBy(task, () => dependencies.map((id) => dependencyFrom(ctx, repo, id, byId.get(id)))),
      question: isOfThis ? (asked.get(task.id) ?? null) : null,
    };
  });
  return { seq, tasks };
}

/** A conflict that is waited out ends with another commit of any of those that do not merge. */
function blockedBy(
  { state, conflict }: Pick<Task, "state" | "conflict">,
  dependencies: () => TaskDependency[],
): readonly string[] {
  if (conflict?.waits) return conflict.dependencies;
  const isWaiting = state === "blocked" || state === "queued" || state === "conflict";
  return isWaiting ? missingOf(dependencies()).map(({ id }) => id) : [];
}

/** Returns one task of a repository as lists show it. @throws {Refusal} `task_not_found` */
export async function readTask(ctx: Reads, repo: string, id: string): Promise<TaskReading> {
  const [reading] = (await readTasks(ctx, repo, [id])).tasks;
  if (!reading) throw new Refusal("task_not_found", { id });
  return reading;
}

/**
 * Returns one task of a repository with its attempts and reviews, and the first page of its asks.
 *
 * @throws {Refusal} `task_not_found`
 */
export async function readWholeTask(ctx: Reads, repo: string, id: string, limit: number): Promise<WholeTask> {
  const task = await findTask(ctx.db, repo, id);
  if (!task) throw new Refusal("task_not_found", { id });
  const [reading, attempts, reviews] = await Promise.all([
    readTask(ctx, repo, id),
    listAttempts(ctx.db, repo, id),
    listReviews(ctx.db, repo, id),
  ]);
  const people = await findHumans(ctx.db, [...new Set(reviews.map(({ principal }) => principal))]);
  return {
    ...reading,
    task: headOf(task),
    prompt: task.prompt,
    attempts,
    reviews: reviews.map((review) => ({ ...review, name: people.get(review.principal)?.name ?? null })),
    asked: await asksOf(ctx.db, attempts, { limit }),
  };
}
