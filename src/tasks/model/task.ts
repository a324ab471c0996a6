import type { SandboxKind } from "../../core/model/sandbox.ts";
import type { TaskConflict } from "./conflict.ts";

/** Where a task is (spec/assignment 3). */
export const TASK_STATES = [
  "blocked",
  "queued",
  "conflict",
  "preparing",
  "running",
  "awaiting_answer",
  "interrupted",
  "committing",
  "review",
  "approved",
  "rejected",
  "failed",
  "canceled",
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** The statuses that clients of the specification know; `error` is a task that will not complete. */
export const TASK_STATUSES = ["queued", "in-progress", "completed", "error"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

const STATUS: Readonly<Record<TaskState, TaskStatus>> = {
  blocked: "queued",
  queued: "queued",
  conflict: "queued",
  preparing: "in-progress",
  running: "in-progress",
  awaiting_answer: "in-progress",
  interrupted: "in-progress",
  committing: "in-progress",
  review: "completed",
  approved: "completed",
  rejected: "error",
  failed: "error",
  canceled: "error",
};

const MOVES: Readonly<Record<TaskState, readonly TaskState[]>> = {
  blocked: ["queued", "canceled"],
  queued: ["blocked", "preparing", "canceled"],
  conflict: ["queued", "preparing", "failed", "canceled"],
  // A start is taken back while dependencies do not merge: nothing has run yet.
  preparing: ["running", "conflict", "interrupted", "queued", "failed", "canceled"],
  running: ["awaiting_answer", "committing", "interrupted", "failed", "canceled"],
  awaiting_answer: ["running", "committing", "interrupted", "failed", "canceled"],
  // In line again when a worker was lost, and what the task depends on is not there any more.
  interrupted: ["running", "preparing", "queued", "failed", "canceled"],
  // A worker elsewhere may be lost with the commit it was making.
  committing: ["review", "failed", "interrupted"],
  review: ["approved", "queued", "rejected"],
  approved: [],
  rejected: ["queued"],
  failed: ["queued"],
  canceled: ["queued"],
};

/** Returns what a state is called on the wire. */
export function statusOfTask(state: TaskState): TaskStatus {
  return STATUS[state];
}

/** Returns whether a task may go from one state to another; the same id submitted again is a new task, not a move. */
export function mayMoveTask(from: TaskState, to: TaskState): boolean {
  return MOVES[from].includes(to);
}

/** Returns whether a task is over: nothing of Parley's own will move it. */
export function isTaskOver(state: TaskState): boolean {
  return STATUS[state] === "error" || state === "review" || state === "approved";
}

/** When dependants may start: when the commit exists, or when a person has approved it. */
export const START_ON = ["completed", "approved"] as const;
export type StartOn = (typeof START_ON)[number];

/** Whether a dependency is there for those that wait for it. */
export function releases(state: TaskState, startOn: StartOn): boolean {
  return startOn === "approved" ? state === "approved" : STATUS[state] === "completed";
}

export interface Diffstat {
  files: number;
  insertions: number;
  deletions: number;
}

/** A task in its present state. */
export interface Task {
  repo: string;
  id: string;
  slug: string;
  prompt: string;
  /** Found in the prompt, by rule; it is part of a commit message. */
  warnings: readonly string[];
  /** Named when it was submitted; null for the repository's usual one. */
  agent: string | null;
  base: string | null;
  startOn: StartOn | null;
  state: TaskState;
  /** Number of the newest attempt; 0 before the first. */
  attempt: number;
  /** Counts submissions of this id: what an earlier one began can never land in a later one. */
  generation: number;
  /** Attempts Parley itself began since the submission; at most three. */
  started: number;
  submittedAt: number;
  updatedAt: number;
  blockedReason: string | null;
  error: string | null;
  stale: boolean;
  /** The dependencies that do not merge; null in every state but `conflict`. */
  conflict: TaskConflict | null;
  /** True if a person left the conflict of its dependencies to the agent. */
  resolveConflict: boolean;
  commit: string | null;
  changed: boolean | null;
  diffstat: Diffstat | null;
  /** The branch that was published; null where only the `refs/aa` name was. */
  branch: string | null;
  /** The ask that a person reviews the work by, or decides a conflict by. */
  reviewAsk: string | null;
  /** The principal of the key it came with. */
  principal: string;
  /** The newest number of its events. */
  seq: number;
}

/** Where an attempt is: `ending` while its processes are not proven dead. */
export const ATTEMPT_STATES = ["preparing", "running", "committing", "ending", "ended"] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

/** One run of an agent on a task. */
export interface Attempt {
  /** Random; marks every process of it. */
  attemptId: string;
  repo: string;
  id: string;
  n: number;
  generation: number;
  jobId: string;
  epoch: number;
  state: AttemptState;
  /** Why it ended: a task state, or `interrupted`, `superseded`, `fenced`. */
  outcome: string | null;
  /** Who runs it: a name of this workshop or of a worker elsewhere. */
  holder: string;
  agent: string;
  pid: number | null;
  starttime: string | null;
  session: string | null;
  resumes: number;
  startSha: string | null;
  commitSha: string | null;
  changed: boolean | null;
  sandbox: SandboxKind | null;
  agentVersion: string | null;
  usage: AttemptUsage | null;
  /** The newest line of the supervisor's log that is in the events. */
  logSeq: number;
  startedAt: number;
  endedAt: number | null;
}

/** The use of an attempt so far, as its agent counts it. */
export interface AttemptUsage {
  turns?: number;
  inputTokens?: number;
  outputTokens?: number;
  costUsd?: number;
  workMs?: number;
}

/** The types of events of a task (spec/assignment 11). */
export const TASK_EVENT_TYPES = [
  "state",
  "message",
  "tool",
  "diff",
  "permission",
  "question",
  "answer",
  "usage",
  "git",
  "setup",
  "note",
  "error",
] as const;
export type TaskEventType = (typeof TASK_EVENT_TYPES)[number];

export interface NewTaskEvent {
  type: TaskEventType;
  data: Readonly<Record<string, unknown>>;
}

export interface TaskEvent extends NewTaskEvent {
  seq: number;
  at: number;
  attempt: number;
}

export const REVIEW_DECISIONS = ["approve", "request_changes", "reject"] as const;
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];

/** One remark about a line of the work. */
export interface LineComment {
  path: string;
  line: number;
  text: string;
}

export interface Review {
  attempt: number;
  decision: ReviewDecision;
  comment: string | null;
  comments: readonly LineComment[];
  principal: string;
  at: number;
}

/** Who holds an attempt that waits for a worker elsewhere. */
export const OFFERED = "offered";
/** Attempts that Parley begins by itself for one submission (spec/assignment 3). */
export const MOST_STARTS = 3;
/** Resumes of one attempt (spec/assignment 10). */
export const MOST_RESUMES = 2;
