import type { ReadableNote } from "../requests/model/agent-note.ts";
import type { SandboxKind } from "../core/model/sandbox.ts";
import type { AttemptState, AttemptUsage, Diffstat, LineComment, NewTaskEvent } from "../tasks/model/task.ts";
import type { UseReport } from "../tasks/model/attempt-asks.ts";
import type { RepoRules } from "../tasks/model/rules.ts";
import type { PermissionDecision, PermissionRequest, QuestionAnswer, AgentQuestion } from "./agents/agent.ts";

/** One attempt as the workshop takes it up: new, or found again after the process that ran it had ended. */
export interface TaskRun {
  attemptId: string;
  n: number;
  jobId: string;
  /** The folder of this submission: its tree, its agent's home and the supervisor's log; a later attempt goes on in it. */
  folder: string;
  repo: RepoRules;
  task: {
    id: string;
    slug: string;
    prompt: string;
    base: string | null;
    /** A person left dependencies that do not merge to the agent. */
    resolveConflict: boolean;
  };
  agent: string;
  /** In topological, then submission order. */
  dependencies: readonly { id: string; commit: string }[];
  /** The changes that a person requested. The work goes on in the same tree and session, on the same start commit. */
  changes: { comment: string | null; comments: readonly LineComment[]; commit: string } | null;
  state: AttemptState;
  startSha: string | null;
  session: string | null;
  resumes: number;
  /** The newest line of the supervisor's log that was reported already. */
  logSeq: number;
  sandbox: SandboxKind | null;
  commitSha: string | null;
  /** The commit of the task's branch when it was last published; null if it never was. */
  published: string | null;
  /** It is to end without a result: its processes are killed, its work is kept under a ref. */
  isEnding: boolean;
}

/** Changed fields of an attempt; fields left out stay as they are. */
export interface Progress {
  startSha?: string;
  sandbox?: SandboxKind;
  pid?: number;
  starttime?: string | null;
  session?: string;
  agentVersion?: string;
  usage?: AttemptUsage;
}

/** The result of an attempt. */
export interface Result {
  commit: string;
  changed: boolean;
  diffstat: Diffstat;
  /** The branch that was published; null where only the ref was. */
  branch: string | null;
  ref: string;
  warnings: readonly string[];
  /** Changed files with their lines, for the reviewer. */
  files: string;
}

/**
 * The server that the workshop reports to: the one it runs in, or a remote one. Each function but `permission` and
 * `question` is one transaction. Each may be called twice.
 *
 * @throws {AttemptLost} from every function, once the attempt is no longer this workshop's, or is to end
 */
export interface AttemptClient {
  /** The next step has begun. */
  step(to: "running" | "committing" | "interrupted", progress?: Progress): Promise<void>;
  /** Stores events, up to a line of the supervisor's log. */
  note(events: readonly NewTaskEvent[], progress?: Progress & { logSeq?: number }): Promise<void>;
  /** Whether the agent waits for people now. Not called for requests made by `permission` and `question`. */
  waiting(isWaiting: boolean): Promise<void>;
  /**
   * Asks once, however often it is called with the same `ref`; resolves when it is decided. The task waits for people
   * as soon as there is a request that they can answer, until `waiting(false)`.
   */
  permission(ref: string, permissionRequest: PermissionRequest, signal: AbortSignal): Promise<PermissionDecision>;
  question(ref: string, agentQuestion: AgentQuestion, signal: AbortSignal): Promise<QuestionAnswer>;
  /** Reports how a use of a tool that was allowed under `ref` has ended; one that was not allowed stays as it is. */
  used(ref: string, report: UseReport): Promise<void>;
  /** Takes a request back from people: the agent waits for it no more. One that nobody knows, or is decided, stays. */
  withdraw(ref: string): Promise<void>;
  /** Resolves with the notes of people that wait for the agent, without the known ones; with none after a while, or once aborted. */
  notes(known: readonly string[], signal: AbortSignal): Promise<readonly ReadableNote[]>;
  /** Returns a new `agent` key of this attempt, and revokes the one before. */
  newKey(): Promise<string>;
  /** Why the attempt cannot go on for now, for people to see; null once it can. */
  trouble(why: string | null): Promise<void>;
  /** The agent may now repeat earlier work. Requests made before belong to an earlier holder. */
  resumed(from: "session" | "start"): Promise<void>;
  /** Dependencies do not merge: the attempt is taken back, people are asked. */
  conflict(conflict: { paths: readonly string[]; messages: string }): Promise<void>;
  /** The commit is made, and published; the task is over but for its review. */
  done(result: Result): Promise<void>;
  failed(error: string, kept: { wip: string | null }): Promise<void>;
  /** Every process of an attempt that was to end is dead; or these are not, and nothing new may start. */
  ended(kept: { wip: string | null; survivors: readonly number[] }): Promise<void>;
  /** Aborted when the attempt is to end: cancelled, submitted anew, or taken over by somebody else. */
  readonly ending: AbortSignal;
  /** Aborted when its agent is to be ended, and its work left to the workshop that takes the attempt up next. */
  readonly interrupting: AbortSignal;
  /** Aborted when the process that runs the workshop stops; agents go on. */
  readonly leaving: AbortSignal;
}

/** The attempt is no longer this workshop's, or is to end: stop, kill, keep what is there. */
export class AttemptLost extends Error {
  constructor(why: string) {
    super(why);
    this.name = "AttemptLost";
  }
}
