import type { Context } from "../context.ts";
import { slugOf } from "./model/names.ts";
import { isTaskOver, statusOfTask, type Task } from "./model/task.ts";
import { cleanWords, exposeIn } from "../requests/create/clean-words.ts";
import { runOfTask } from "../requests/model/agent-note.ts";
import { deleteWaitingNotes } from "../requests/store/agent-notes.ts";
import { Refusal } from "../refusals.ts";
import { findLiveAttempt } from "./store/attempts.ts";
import { listDependencies, replaceDependencies } from "./store/dependencies.ts";
import { claimTaskKey } from "./store/idempotency.ts";
import { countOpenTasks, findTask, lockRepo, lockTask, putTask, type NewTask } from "./store/tasks.ts";
import type { Actor, AuditNote } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { endAttemptIn, withdrawReview } from "./end-attempt.ts";
import { placeTaskIn } from "./move.ts";

/** A checked task, as it is submitted. */
export interface SubmitTaskInput extends Pick<
  Task,
  "repo" | "id" | "prompt" | "agent" | "base" | "startOn" | "principal"
> {
  /** Each once, and never the task itself. */
  dependencies: readonly string[];
  by: Actor;
  /** It may come again: the same key with another body is refused. */
  retry?: { keyHash: string; key: string; bodyHash: string };
}

/** Open tasks of one repository. */
const MOST_OPEN = 2000;
const RETRY_S = 60;

/**
 * The task is in line, or blocked and says what it waits for. One of the same id is replaced: what runs of it is ended and
 * can land no more, and the new one starts once that is proven dead (spec/assignment 2).
 *
 * A submission that comes again under its own key changes nothing, and returns the task as it is now.
 *
 * @throws {Refusal} `secret_detected`, `idempotency_mismatch`, `dependency_cycle` with the path, `quota_exceeded`
 */
export async function submitTask(ctx: Context, input: SubmitTaskInput): Promise<{ task: Task; replayed: boolean }> {
  const { repo, id, retry, dependencies, by, ...given } = input;
  const speaker = { person: by.kind === "human" ? by.id : null, identities: [], requestId: null };
  const words = await cleanWords(ctx, given.prompt, speaker);
  const rest = { ...given, prompt: words.words };
  const warnings = await warningsOf(ctx, rest.prompt);
  const submitted = await transact(ctx, async (tx) => {
    await exposeIn(ctx, tx, words);
    await lockRepo(tx, repo);
    if (retry) {
      const bodyHash = await claimTaskKey(tx, { ...retry, repo, id });
      if (bodyHash !== undefined && bodyHash !== retry.bodyHash) throw new Refusal("idempotency_mismatch");
      const task = bodyHash === undefined ? undefined : await findTask(tx, repo, id);
      if (task) return { task, replayed: true, replaced: null };
    }
    const cycle = await findCycle(tx, repo, id, dependencies);
    if (cycle) throw new Refusal("dependency_cycle", { cycle }, sentenceOf(cycle));
    const before = await findTask(tx, repo, id);
    const task = { ...rest, repo, id, slug: slugOf(id), warnings };
    const put = await putIn(ctx, tx, task, { before, by, dependencies });
    return { task: put, replayed: false, replaced: before ?? null };
  });
  await withdrawReview(ctx, submitted.replaced?.reviewAsk, by);
  return { task: submitted.task, replayed: submitted.replayed };
}

/**
 * A task that ended without a result is in line again, as it was submitted.
 *
 * @throws {Refusal} `task_not_found`, `task_not_ended`, `quota_exceeded`
 */
export async function retryTask(
  ctx: Context,
  { repo, id }: Pick<Task, "repo" | "id">,
  { by, principal }: { by: Actor; principal: string },
): Promise<Task> {
  return transact(ctx, async (tx) => {
    const held = await lockTask(tx, repo, id);
    if (!held) throw new Refusal("task_not_found", { id });
    if (statusOfTask(held.state) !== "error") throw new Refusal("task_not_ended", { state: held.state });
    return putIn(ctx, tx, { ...held, principal }, { before: held, by });
  });
}

async function putIn(
  ctx: Context,
  tx: Tx,
  task: NewTask,
  { before, by, dependencies }: { before: Task | undefined; by: Actor; dependencies?: readonly string[] },
): Promise<Task> {
  const { repo, id } = task;
  const isMore = before === undefined || isTaskOver(before.state);
  const open = isMore ? await countOpenTasks(tx, repo) : 0;
  if (open >= MOST_OPEN) throw new Refusal("quota_exceeded", { limit: MOST_OPEN, open, retry_after: RETRY_S });
  const notes: AuditNote[] = [];
  const running = before && (await findLiveAttempt(tx, repo, id));
  if (running) notes.push(...(await endAttemptIn(tx, running, "superseded", by)));
  // A note was meant for the work before.
  if (before) await deleteWaitingNotes(tx, runOfTask(repo, id));
  // point: task-between-attempt-and-task
  const put = await putTask(tx, task);
  if (dependencies) await replaceDependencies(tx, repo, id, dependencies);
  return placeTaskIn(ctx, tx, put, { before, by, notes });
}

/** Returns what was found in a prompt, in words; it becomes part of a commit message. @throws {Refusal} `secret_detected` */
async function warningsOf(ctx: Context, prompt: string): Promise<string[]> {
  const { finds } = await ctx.secrets.find([{ path: "prompt", text: prompt }]);
  if (finds.length > 0 && ctx.assignment.secrets === "reject") {
    throw new Refusal("secret_detected", {
      finds: finds.map(({ path, rule, from, to }) => ({ path, rule, from, to })),
    });
  }
  const rules = new Set(finds.map(({ rule }) => rule));
  return [...rules].map((rule) => `The prompt holds a secret (${rule}), and becomes part of a commit message.`);
}

/** Returns the cycle from a task through these dependencies back to it, its id first and last; null without a cycle. */
async function findCycle(tx: Tx, repo: string, id: string, dependencies: readonly string[]): Promise<string[] | null> {
  const from = new Map(dependencies.map((dependsOn) => [dependsOn, id]));
  let next = [...from.keys()];
  while (next.length > 0) {
    const links = await listDependencies(tx, repo, next);
    next = [];
    for (const link of links) {
      if (link.dependsOn === id) return wayTo(link.id, id, from);
      if (from.has(link.dependsOn)) continue;
      from.set(link.dependsOn, link.id);
      next.push(link.dependsOn);
    }
  }
  return null;
}

function wayTo(last: string, id: string, from: ReadonlyMap<string, string>): string[] {
  const way = [id];
  for (let step: string | undefined = last; step !== undefined && step !== id; step = from.get(step)) way.unshift(step);
  return [id, ...way];
}

function sentenceOf(cycle: readonly string[]): string {
  return cycle
    .slice(1)
    .map((id, i) => `${cycle[i]} depends on ${id}`)
    .join(", ");
}
