import type { Clock } from "../../lib/clock.ts";
import type { ReadableNote } from "../../requests/model/agent-note.ts";
import type { AttemptUsage } from "../../tasks/model/task.ts";
import type {
  PermissionDecision,
  PermissionRequest,
  QuestionAnswer,
  AgentQuestion,
} from "../../tasks/model/attempt-asks.ts";

export type {
  PermissionDecision,
  PermissionRequest,
  QuestionAnswer,
  AgentQuestion,
} from "../../tasks/model/attempt-asks.ts";

/** More questions in one call are put to nobody: each would be an ask of its own. */
export const MOST_QUESTIONS = 20;
export const TOO_MANY_QUESTIONS = `Ask at most ${MOST_QUESTIONS} questions in one call.`;

/**
 * An adapter to one kind of agent. It starts a conversation over the agent's own protocol, reports what happens in the
 * same form for all agents, passes on permission prompts and questions, interrupts and resumes. It decides nothing
 * (spec/assignment 7). It runs in the supervisor's process, and knows neither the server nor the jail.
 */
export interface Agent {
  /** As in the settings: `claude`, `codex`, `acp`, `command`. */
  type: AgentType;
  /** Whether its own settings can widen what it does unasked, so that it runs in a sandbox only. */
  needsSandbox: boolean;
  /** Returns how it is started; writes what it reads (settings, MCP servers) into its home, mode 0600. */
  launch(order: AgentOrder): Promise<Launch>;
  /**
   * Speaks with the started agent until it has done its work, failed, or gone. Resolves with how it ended; never throws
   * for what the agent did. Kills nothing: after `interrupt` was aborted it asks the agent to stop in the protocol's
   * words, and the supervisor sees to the rest. When the work is done it closes the agent's input and resolves; the
   * process may need a moment more to save its session and go.
   */
  converse(order: AgentOrder, pipes: AgentPipes, callbacks: AgentCallbacks, interrupt: AbortSignal): Promise<AgentEnd>;
}

export type AgentType = "claude" | "codex" | "acp" | "command";

/** One agent as it is configured. */
export interface AgentSettings {
  name: string;
  type: AgentType;
  /** The program and its arguments; of `claude` and `codex` the program only, where it is not found by its name. */
  command: readonly string[];
  /** Which of the ACP agents it is, for what these need; `other` for any. */
  flavour: "gemini" | "opencode" | "other";
  /** Environment variables it is given from the server's own. */
  passEnv: readonly string[];
  /** The model's key stays with the supervisor, which adds it on the way to the model. */
  keyProxy?: boolean;
}

/** The settings and folders of one agent. Paths are those that the agent itself sees: in the jail `/parley/...`. */
export interface AgentOrder {
  settings: AgentSettings;
  tree: string;
  home: string;
  /** The same home as the supervisor sees it, for files that are written before the start. */
  homeOutside: string;
  treeOutside: string;
  /** The first message; on a resume that of the resume. */
  message: string;
  /** A session to go on with; null begins one. */
  resume: string | null;
  /** A UUID that a new session gets where the agent lets it be chosen. */
  sessionId: string;
  jailed: boolean;
  mcp: { url: string; token: string };
  /** The environment it is started with, before the adapter adds its own: PATH, HOME, PARLEY_*, passed keys. */
  env: Readonly<Record<string, string>>;
  maxTurns: number;
  maxBudgetUsd: number | null;
}

/** How to start it: never through a shell; tokens only in files or the environment. */
export interface Launch {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
}

/** The started agent's pipes. */
export interface AgentPipes {
  /** Its standard output by line; it ends with the agent. Adapters read no line beyond 1 MiB. */
  lines: AsyncIterable<string>;
  /** Writes a line and its end; nothing where the agent listens no more. */
  write(line: string): void;
  closeInput(): void;
  /** Resolves when the process is gone; with the last 4 KiB of its standard error. */
  exited: Promise<{ code: number | null; signal: string | null; stderr: string }>;
  /** The clock of waits for what the agent may still send. */
  clock: Clock;
}

/** A use of a tool that has ended, by the agent's own id. */
export interface ToolUseEnd {
  use: string;
  /** `sha256:…` of the whole result. */
  digest: string;
  /** The plain status, such as `exit 1`. */
  words?: string;
  /** The agent says that it did not run it, because a part of it was denied. */
  isDeclined?: boolean;
}

/** Called by the adapter while the agent works. */
export interface AgentCallbacks {
  session(id: string, agentVersion?: string): void;
  /** A text that the agent wrote, or a thought that it showed. */
  message(text: string): void;
  /** A tool the agent uses or has used, as far as it says so. */
  tool(use: { name: string; input?: unknown; result?: string; isError?: boolean; ended?: ToolUseEnd }): void;
  usage(usage: AttemptUsage): void;
  error(text: string): void;
  /**
   * The agent wants to do something, and waits. Resolves with the decision; also, denied, when the attempt ends, or when
   * `withdrawn` is aborted: the request is then taken back from people. `use` is the agent's own id of the use of a tool
   * that it is about, by which `tool` reports the end of it.
   */
  permission(permissionRequest: PermissionRequest, withdrawn?: AbortSignal, use?: string): Promise<PermissionDecision>;
  /** The agent asks something, and waits. `withdrawn` as for a permission. */
  question(agentQuestion: AgentQuestion, withdrawn?: AbortSignal): Promise<QuestionAnswer>;
  /** From now on `take` gets each note to the agent, in order, those first that came before. Left out by an adapter whose agent reads none. */
  onNote(take: (note: ReadableNote) => void): void;
  /** The agent has read this note, or its own program holds it for the next turn. */
  noted(id: string): void;
}

/** How the conversation ended. `died` when the agent went without a result: it may be resumed. */
export type AgentEnd =
  | { kind: "done"; summary?: string; usage?: AttemptUsage }
  | { kind: "failed"; error: string; usage?: AttemptUsage }
  | { kind: "died"; error: string; canResume: boolean }
  | { kind: "interrupted" };
