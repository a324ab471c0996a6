import type { Task } from "@parley/sdk/tasks";

export type ColumnName = "queued" | "working" | "waiting" | "review" | "done";

/** The columns of the board: every number of tasks counts what one of them holds. */
const HOLDS: Record<ColumnName, readonly Task["state"][]> = {
  queued: ["queued", "blocked"],
  working: ["preparing", "running", "interrupted", "committing"],
  waiting: ["awaiting_answer", "conflict"],
  review: ["review"],
  done: ["approved", "rejected", "failed", "canceled"],
};

export function columnOf(name: ColumnName, tasks: readonly Task[]): Task[] {
  return tasks.filter(({ state }) => HOLDS[name].includes(state));
}
