import { isTaskOver, type TaskState } from "./task.ts";

/** The folder of one submission of a task, and how things stand with the task. */
export interface WorkFolder {
  /** Which submission it is of. */
  generation: number;
  task: { generation: number; state: TaskState; isAlive: boolean; agoMs: number };
  /** How long ago the last attempt of that submission ended; null where none is known any more. */
  endedAgoMs: number | null;
}

/** How long trees wait for a review, and logs are kept. */
export interface KeptFor {
  treesMs: number;
  logsMs: number;
}

/** The part of a folder to remove now: nothing, the tree with the agent's home, or all of it with the logs. */
export type WorkFate = "keep" | "tree" | "all";

/**
 * Returns the part of a submission's folder to remove (spec/assignment 4.6). The whole folder stays while an attempt of
 * its task is alive or may begin. The log of work that waits for a review stays.
 */
export function fateOfWork({ generation, task, endedAgoMs }: WorkFolder, { treesMs, logsMs }: KeptFor): WorkFate {
  if (task.isAlive || generation > task.generation) return "keep";
  if (generation < task.generation) {
    if (endedAgoMs === null || endedAgoMs >= logsMs) return "all";
    return endedAgoMs >= treesMs ? "tree" : "keep";
  }
  if (!isTaskOver(task.state)) return "keep";
  if (task.state !== "review" && task.agoMs >= logsMs) return "all";
  return task.agoMs >= treesMs ? "tree" : "keep";
}

/** The refs of a repository that may be removed. */
export interface OldRefs {
  /** Slugs of tasks with a live attempt; all their refs stay. */
  busy: ReadonlySet<string>;
  /** Attempts whose work was rejected long ago. */
  rejected: readonly { slug: string; n: number }[];
  /** How long unfinished work is kept. */
  wipMs: number;
}
