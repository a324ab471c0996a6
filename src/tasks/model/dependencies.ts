import { releases, statusOfTask, type StartOn, type Task, type TaskState } from "./task.ts";

/** A dependency that a task waits for, as it is now. A null state means that no such task was submitted yet. */
export interface TaskDependency {
  id: string;
  state: TaskState | null;
  commit: string | null;
  error: string | null;
  /** When those that wait for it may start. */
  startOn: StartOn;
}

const MOST_NAMED = 5;

/** Returns the dependencies that are not there yet. */
export function missingOf<T extends Pick<TaskDependency, "state" | "startOn">>(dependencies: readonly T[]): T[] {
  return dependencies.filter(({ state, startOn }) => state === null || !releases(state, startOn));
}

/** Returns why a task may not start, naming what it waits for; null when all of it is there. */
export function blockedReasonOf(dependencies: readonly TaskDependency[]): string | null {
  const missing = missingOf(dependencies);
  if (missing.length === 0) return null;
  const named = missing.slice(0, MOST_NAMED).map(reasonOf);
  return [...named, ...(missing.length > MOST_NAMED ? [`and ${missing.length - MOST_NAMED} more`] : [])].join("; ");
}

function reasonOf({ id, state, error, startOn }: TaskDependency): string {
  if (state === null) return `${id} is not known yet`;
  if (state === "failed") return error === null ? `${id} failed` : `${id} failed: ${firstLine(error)}`;
  if (statusOfTask(state) === "error") return `${id} was ${state}`;
  const isCompleted = statusOfTask(state) === "completed";
  return startOn === "approved" && isCompleted ? `${id} is not approved yet` : `${id} is not completed yet`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.slice(0, 200) ?? "";
}

/** Returns whether those that depend on a task have to be looked at again, because of what became of it. */
export function concernsDependants(
  before: Pick<Task, "state" | "commit" | "startOn"> | undefined,
  after: Pick<Task, "state" | "commit" | "startOn">,
): boolean {
  return (
    before === undefined ||
    statusForDependants(before.state) !== statusForDependants(after.state) ||
    before.commit !== after.commit ||
    before.startOn !== after.startOn
  );
}

function statusForDependants(state: TaskState): string {
  const isOpen = statusOfTask(state) === "queued" || statusOfTask(state) === "in-progress";
  return isOpen ? "open" : state;
}
