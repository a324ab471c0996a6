import type { Context } from "../context.ts";
import type { RepoRules } from "./model/rules.ts";
import { isTaskOver, mayMoveTask, statusOfTask, type NewTaskEvent, type Task, type TaskState } from "./model/task.ts";
import { blockedReasonOf, concernsDependants, type TaskDependency } from "./model/dependencies.ts";
import { countAtWork } from "./store/attempts.ts";
import { listDependants, listDependencies } from "./store/dependencies.ts";
import { appendTaskEvents } from "./store/events.ts";
import {
  findFirstInLine,
  findTask,
  listTaskHeads,
  lockRepo,
  updateTask,
  updateTaskState,
  type InLine,
  type TaskHead,
  type TaskPatch,
} from "./store/tasks.ts";
import { appendAudit, type Actor, type AuditNote } from "../core/store/audit.ts";
import type { Queryable, Tx } from "../core/store/db.ts";
import { TASKS_TOPIC } from "../core/store/wake.ts";

type Rules = Pick<Context, "assignment">;

/** Changes and further events of a move. The server made the move unless `by` names another actor. */
export type TaskChange = TaskPatch & { by?: Actor; events?: readonly NewTaskEvent[] };

/** Where a task goes. */
type TaskMove = TaskChange & { to: TaskState };

const SERVER: Actor = { kind: "server", id: "assignment" };

/** A task never goes from the one state to the other. */
export class WrongMove extends Error {
  constructor(from: TaskState, to: TaskState) {
    super(`a task never goes from ${from} to ${to}`);
    this.name = "WrongMove";
  }
}

/**
 * Moves a held task, and whatever depends on it: one guarded statement and one `state` event for each, all in the
 * transaction under way. Those whose dependencies are all there come into line; those that lose one are blocked and say
 * why; those that were built on an earlier commit are marked stale, or come into line again.
 *
 * A task that comes into line and lacks a dependency by now is blocked at once, and returned as that.
 *
 * The caller holds the task by `lockTask`. Call this last: it writes the audit record, after which nothing may be
 * locked.
 *
 * @throws {WrongMove} when the task may not move so: our bug, or a worker's elsewhere
 */
export async function moveTaskIn(ctx: Rules, tx: Tx, held: Task, move: TaskMove): Promise<Task> {
  const notes: AuditNote[] = [];
  const first = await moveOne(tx, held, move, notes);
  const moved = move.to === "queued" ? await keepInLine(ctx, tx, first, notes) : first;
  await settleDependants(ctx, tx, { before: held, after: moved }, notes);
  await appendAudit(tx, ...notes);
  return moved;
}

async function moveOne(
  tx: Tx,
  held: Task,
  { to, by = SERVER, events = [], ...patch }: TaskMove,
  notes: AuditNote[],
): Promise<Task> {
  if (!mayMoveTask(held.state, to)) throw new WrongMove(held.state, to);
  const moved = await updateTaskState(tx, held, to, { ...clearedBy(held, to), ...patch });
  // point: task-between-state-and-event
  await storeStateEvent(tx, moved, { from: held.state, by, events });
  notes.push(noteOf(moved, held.state, by));
  return moved;
}

/** Returns the fields of a task that are cleared when it leaves its state. */
function clearedBy(held: Task, to: TaskState): TaskPatch {
  const isCompleted = statusOfTask(to) === "completed";
  const isDecided = held.state === "review" || held.state === "conflict";
  return {
    ...(to !== "blocked" && { blockedReason: null }),
    ...(to !== "conflict" && held.conflict !== null && { conflict: null }),
    ...(to === "queued" && { error: null, stale: false }),
    ...(!isCompleted && { commit: null, changed: null, diffstat: null, branch: null }),
    ...(isDecided && { reviewAsk: null }),
  };
}

/** Stores the event of a task's new state, and wakes the loop that starts tasks. */
async function storeStateEvent(
  tx: Tx,
  task: Task,
  { from, by, events = [] }: { from: TaskState | null; by: Actor; events?: readonly NewTaskEvent[] },
): Promise<void> {
  const { state, commit, error, blockedReason, conflict, stale } = task;
  const event: NewTaskEvent = {
    type: "state",
    data: {
      state,
      status: statusOfTask(state),
      ...(from !== null && { from }),
      ...(commit !== null && { commit }),
      ...(error !== null && { error }),
      ...(blockedReason !== null && { blockedReason }),
      ...(conflict !== null && { conflict }),
      ...(stale && { stale }),
      ...(by.kind !== "server" && { by: by.id }),
    },
  };
  await appendTaskEvents(tx, task, [event, ...events]);
  if (state === "queued" || isTaskOver(state)) tx.wake(TASKS_TOPIC);
}

/** A held task stays where it is, and says something else of itself. */
export async function retellTaskIn(tx: Tx, held: Task, patch: TaskPatch, by: Actor = SERVER): Promise<Task> {
  const task = await updateTask(tx, held, patch);
  await storeStateEvent(tx, task, { from: null, by });
  return task;
}

function noteOf(task: Task, from: TaskState | null, by: Actor): AuditNote {
  const { repo, id, state, attempt, generation, error, principal } = task;
  const data = { from, attempt, generation, ...(error !== null && { error }) };
  return { actor: by, action: `task.${state}`, agent: principal, callId: `${repo}/${id}`, data };
}

/**
 * Settles a task that was just submitted or replaced. It is blocked at once if a dependency is missing, and the tasks
 * that depend on it are updated. Its state so far is `queued`, for which no event is stored yet. Call it last:
 * it writes the audit record, with the other notes.
 */
export async function placeTaskIn(
  ctx: Rules,
  tx: Tx,
  put: Task,
  { before, by, notes = [] }: { before: Task | undefined; by: Actor; notes?: AuditNote[] },
): Promise<Task> {
  const from = before?.state ?? null;
  const blockedReason = await whyBlocked(ctx, tx, put);
  const placed = blockedReason === null ? put : await updateTaskState(tx, put, "blocked", { blockedReason });
  await storeStateEvent(tx, placed, { from, by });
  notes.push(noteOf(placed, from, by));
  await settleDependants(ctx, tx, { before, after: placed }, notes);
  await appendAudit(tx, ...notes);
  return placed;
}

/** Returns what a task waits for or was built on, in the order it was named, as it stands now. */
async function dependenciesOf(
  ctx: Rules,
  on: Queryable,
  { repo, id }: Pick<Task, "repo" | "id">,
): Promise<TaskDependency[]> {
  const named = await listDependencies(on, repo, [id]);
  const tasks = await listTaskHeads(
    on,
    repo,
    named.map(({ dependsOn }) => dependsOn),
  );
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return named.map(({ dependsOn }) => dependencyFrom(ctx, repo, dependsOn, byId.get(dependsOn)));
}

/** Returns a task as those see it that depend on it; nothing, where it is not known. */
export function dependencyFrom(ctx: Rules, repo: string, id: string, task: TaskHead | undefined): TaskDependency {
  return {
    id,
    state: task?.state ?? null,
    commit: task?.commit ?? null,
    error: task?.error ?? null,
    startOn: task?.startOn ?? rulesOf(ctx, repo)?.startOn ?? "completed",
  };
}

/** Returns why a task may not start, in words that name what it waits for; null when all of it is there. */
export async function whyBlocked(ctx: Rules, on: Queryable, task: Pick<Task, "repo" | "id">): Promise<string | null> {
  return blockedReasonOf(await dependenciesOf(ctx, on, task));
}

function rulesOf(ctx: Rules, repo: string): RepoRules | undefined {
  return ctx.assignment.repos.find(({ name }) => name === repo);
}

async function settleDependants(
  ctx: Rules,
  tx: Tx,
  { before, after }: { before: Task | undefined; after: Task },
  notes: AuditNote[],
): Promise<void> {
  if (!concernsDependants(before, after)) return;
  const isNew = after.commit !== null && after.commit !== before?.commit;
  for (const { id, usedCommit } of await listDependants(tx, after.repo, after.id)) {
    // Read one by one: what became of one may have moved another.
    const task = await findTask(tx, after.repo, id);
    const isOutdated = isNew && usedCommit !== null && usedCommit !== after.commit;
    if (task) await settleDependant(ctx, tx, { task, isNew, isOutdated }, notes);
  }
}

async function settleDependant(
  ctx: Rules,
  tx: Tx,
  { task, isNew, isOutdated }: { task: Task; isNew: boolean; isOutdated: boolean },
  notes: AuditNote[],
): Promise<void> {
  if (task.state === "queued" || task.state === "blocked") {
    await keepInLine(ctx, tx, task, notes);
    return;
  }
  if (task.state === "conflict") {
    // With another commit it may merge.
    if (!isNew) return;
    await keepInLine(ctx, tx, await moveOne(tx, task, { to: "queued" }, notes), notes);
    return;
  }
  if (!isOutdated || task.stale || statusOfTask(task.state) === "error") return;
  if (task.state === "review" && rulesOf(ctx, task.repo)?.onStale === "rerun") {
    const queued = await moveOne(tx, task, { to: "queued", started: 0, feedback: null }, notes);
    await keepInLine(ctx, tx, queued, notes);
    await settleDependants(ctx, tx, { before: task, after: queued }, notes);
    return;
  }
  await retellTaskIn(tx, task, { stale: true });
}

/** Brings a task that has not started into line with its dependencies. */
async function keepInLine(ctx: Rules, tx: Tx, task: Task, notes: AuditNote[]): Promise<Task> {
  const blockedReason = await whyBlocked(ctx, tx, task);
  if (blockedReason === null) {
    return task.state === "blocked" ? moveOne(tx, task, { to: "queued" }, notes) : task;
  }
  if (task.state === "queued") return moveOne(tx, task, { to: "blocked", blockedReason }, notes);
  if (blockedReason === task.blockedReason) return task;
  return retellTaskIn(tx, task, { blockedReason });
}

/** Where a task may be started: how many at a time, and by which agents; by any, where that is null. */
export interface Slots {
  repos: readonly Pick<RepoRules, "name" | "parallel" | "agent">[];
  /** In all of these together. */
  parallel: number;
  agents: readonly string[] | null;
}

/**
 * Returns the task that is to start next: the one that came first of those in line in repositories with a free slot.
 * A task with an attempt that may still be alive is never returned. Undefined if no task can start.
 *
 * All the repositories stay locked until the transaction ends, so that no two servers fill one slot. The caller checks
 * the dependencies of the task once more, in this transaction.
 */
export async function pickNextTask(tx: Tx, { repos, parallel, agents }: Slots): Promise<Task | undefined> {
  const inOrder = [...repos].sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const { name } of inOrder) await lockRepo(tx, name);
  const atWork = new Map<string, number>();
  for (const { name } of inOrder) atWork.set(name, await countAtWork(tx, name));
  if ([...atWork.values()].reduce((sum, n) => sum + n, 0) >= parallel) return undefined;
  let first: InLine | undefined;
  for (const { name, parallel: slots, agent } of inOrder) {
    if ((atWork.get(name) ?? 0) >= slots) continue;
    const next = await findFirstInLine(tx, { repo: name, agent, agents });
    if (next && (first === undefined || isBefore(next, first))) first = next;
  }
  return first?.task;
}

function isBefore(one: InLine, other: InLine): boolean {
  if (one.task.submittedAt !== other.task.submittedAt) return one.task.submittedAt < other.task.submittedAt;
  return one.place < other.place;
}
