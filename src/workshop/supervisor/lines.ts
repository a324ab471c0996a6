/**
 * The protocol between a supervisor, which is the detached process that owns one agent, and its client: the server, or
 * a worker elsewhere. It sends lines of JSON over a unix socket. Every line of the supervisor is first in its
 * `log.ndjson`, numbered from 1, and is replayed to a client that attaches (spec/assignment 10).
 */
import type { ReadableNote } from "../../requests/model/agent-note.ts";
import type { SandboxKind } from "../../core/model/sandbox.ts";
import type { AttemptUsage } from "../../tasks/model/task.ts";
import type {
  AgentSettings,
  ToolUseEnd,
  PermissionDecision,
  PermissionRequest,
  QuestionAnswer,
  AgentQuestion,
} from "../agents/agent.ts";

/** The order that a supervisor is started with: the file `order.json` of its folder, mode 0600. */
export interface SupervisorOrder {
  attemptId: string;
  taskId: string;
  repo: string;
  jobId: string;
  stepId: string;
  /** The attempt's folder; `tree`, `home`, `log.ndjson`, `raw.log` and `supervisor.json` stand in it. */
  folder: string;
  store: string;
  agent: AgentSettings;
  message: string;
  resume: string | null;
  sessionId: string;
  sandbox: SandboxKind;
  /** Where the server is, for MCP; and the attempt's own `agent` key, which never enters the tree. */
  serverUrl: string;
  key: string;
  /** Hosts that the proxy of the jail admits, with `*.` for any below. */
  egress: readonly string[];
  limits: { workMs: number; silentMs: number; turns: number; maxBudgetUsd: number | null };
  /** Values of the server's environment that the agent is given. */
  env: Readonly<Record<string, string>>;
}

/** The content of `supervisor.json` once it listens: how to find it again, even if another process has its pid now. */
export interface SupervisorMark {
  pid: number;
  /** Field 22 of `/proc/<pid>/stat`; null where there is no /proc. */
  starttime: string | null;
  socket: string;
  /** The token that a client presents when it attaches. */
  token: string;
}

/** A line that a supervisor sends; each has its `seq` and `at`. */
export type SupervisorLine = { seq: number; at: number } & SupervisorFact;

export type SupervisorFact =
  | { type: "started"; pid: number; starttime: string | null; argv: readonly string[] }
  | { type: "session"; session: string; agentVersion?: string }
  | { type: "message"; text: string }
  | { type: "tool"; name: string; input?: unknown; result?: string; isError?: boolean; ended?: ToolUseEnd }
  | { type: "usage"; usage: AttemptUsage }
  | { type: "error"; text: string }
  /** `ref` names it within the attempt: a permission that is asked again after a resume has another. */
  | { type: "permission"; ref: string; wish: PermissionRequest; use?: string }
  | { type: "question"; ref: string; wish: AgentQuestion }
  | { type: "decided"; ref: string; allow?: boolean }
  /** The agent waits for it no more. */
  | { type: "withdrawn"; ref: string }
  /** The agent has a note of a person. */
  | { type: "noted"; id: string }
  /** How many calls of the agent wait for people over MCP. */
  | { type: "waiting"; calls: number }
  /** Its last line; the supervisor is about to go, and every process of the attempt is dead, or named. */
  | { type: "ended"; end: SupervisorEnd; usage?: AttemptUsage; survivors?: readonly number[] };

export type SupervisorEnd =
  | { kind: "done"; summary?: string }
  | { kind: "failed"; error: string }
  | { kind: "died"; error: string; canResume: boolean }
  | { kind: "canceled" };

/** A command to a supervisor. Each may be sent twice. */
export type SupervisorCommand =
  /** Comes first on every connection. Lines follow after number `after`; with null none do. */
  | { say: "attach"; token: string; after: number | null }
  | { say: "decide"; ref: string; decision: PermissionDecision | QuestionAnswer }
  /** A note of a person to the agent. It has arrived when a line \`noted\` says so. */
  | { say: "note"; note: ReadableNote }
  | { say: "cancel" }
  /** The agent is ended, and may be resumed later. */
  | { say: "interrupt" };

/** Reads a line of a supervisor. One that began before version 0.3.0 names the kind of its end `is`. */
export function readSupervisorLine(text: string): SupervisorLine {
  const line = JSON.parse(text) as SupervisorLine;
  if (line.type !== "ended") return line;
  const { is, ...end } = line.end as SupervisorEnd & { is?: SupervisorEnd["kind"] };
  return is === undefined ? line : { ...line, end: { ...end, kind: is } as SupervisorEnd };
}
