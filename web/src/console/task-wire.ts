/** What the server says of tasks of coding agents (docs/reference/assignment.md). */
import type { AskStatus } from "./relay-wire.ts";

export type TaskState =
  | "blocked"
  | "queued"
  | "conflict"
  | "preparing"
  | "running"
  | "awaiting_answer"
  | "interrupted"
  | "committing"
  | "review"
  | "approved"
  | "rejected"
  | "failed"
  | "canceled";

export interface Diffstat {
  files: number;
  insertions: number;
  deletions: number;
}

export interface Task {
  repo: string;
  id: string;
  title: string;
  status: string;
  state: TaskState;
  submittedAt: string;
  attempt: number;
  agent?: string;
  commit?: string;
  branch?: string;
  ref?: string;
  changed?: boolean;
  diffstat?: Diffstat;
  dependencies: readonly string[];
  blockedBy: readonly string[];
  blockedReason?: string;
  error?: string;
  stale: boolean;
  sandbox?: string;
  warnings?: readonly string[];
  question?: { askId: string; summary: string; url: string };
  reviewUrl?: string;
}

export interface Usage {
  turns?: number;
  inputTokens?: number;
  outputTokens?: number;
  costUsd?: number;
  workMs?: number;
}

export interface Attempt {
  n: number;
  state: string;
  outcome?: string | null;
  agent: string;
  agentVersion?: string | null;
  sandbox?: string | null;
  startedAt: string;
  endedAt?: string | null;
  commit?: string | null;
  usage?: Usage | null;
}

export interface Review {
  attempt: number;
  verdict: Verdict;
  comment?: string | null;
  comments?: readonly LineComment[];
  by?: string | null;
  at: string;
}

export interface TaskAsk {
  askId: string;
  summary: string;
  state: AskStatus;
  url?: string;
  answer?: string;
  /** Who answered: a person by name, or what else did. */
  by?: string;
}

/** A task with everything that its reader may see. */
export interface WholeTask extends Task {
  prompt: string;
  base?: string | null;
  attempts: readonly Attempt[];
  reviews: readonly Review[];
  asks: readonly TaskAsk[];
}

export interface Board {
  sandboxNotice: string | null;
  repos: readonly { name: string; agent: string; isDefault: boolean }[];
  agents: readonly { name: string; ready: boolean; why?: string }[];
  tasks: readonly Task[];
}

export interface TaskEvent {
  seq: number;
  at: string;
  attempt: number;
  type: string;
  readonly [more: string]: unknown;
}

export type Verdict = "approve" | "request_changes" | "reject";

export interface LineComment {
  path: string;
  line: number;
  text: string;
}

export interface NewReview {
  verdict: Verdict;
  attempt: number;
  comment?: string;
  comments?: readonly LineComment[];
}

export interface NewTask {
  id: string;
  prompt: string;
  dependencies: readonly string[];
  agent?: string;
}
