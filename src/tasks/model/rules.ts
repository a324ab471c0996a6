import type { StartOn } from "./task.ts";

/** How approved work comes into a branch. */
export const MERGES = ["ff", "merge", "squash"] as const;

/** One repository in which agents may be given work (spec/assignment 1). */
export interface RepoRules {
  name: string;
  /** Where the user's repository is; null where a worker elsewhere has it. */
  path: string | null;
  base: string;
  agent: string;
  isDefault: boolean;
  /** Agents at work in it at one time. */
  parallel: number;
  /** A shell command that prepares a new tree; null for none. */
  setup: string | null;
  /** Commands that need nobody's leave, as argument lists. */
  allowCommands: readonly (readonly string[])[];
  startOn: StartOn;
  onConflict: "ask" | "agent";
  onStale: "mark" | "rerun";
  /** How an approval merges the work, and into which branch; null if it merges nothing. */
  onApprove: { how: (typeof MERGES)[number]; target: string } | null;
}

/** A coding agent as it is configured. */
export interface AgentRules {
  name: string;
  type: "claude" | "codex" | "acp" | "command";
  /** The program and its arguments; of `claude` and `codex` the program alone. */
  command: readonly string[];
  /** Which of the ACP agents it is, for what these need; `other` for any. */
  flavour: "gemini" | "opencode" | "other";
  /** Variables of the server's environment that it is given. */
  passEnv: readonly string[];
  /** The model key stays outside: it is added on the way to the model. */
  keyProxy: boolean;
}

/** How work is given out here. */
export interface AssignmentRules {
  serverName?: string | undefined;
  corsOrigins: readonly string[];
  /** The origin of the one page that ours may frame. */
  promptPad: string;
  sandbox: "auto" | "require" | "off";
  egress: readonly string[];
  parallel: number;
  branchPrefix: string;
  committer: string;
  author: string;
  secrets: "warn" | "reject";
  askDeadlineS: number;
  workMinutes: number;
  silentMinutes: number;
  turns: number;
  maxBudgetUsd?: number | undefined;
  /** Hours that the tree of finished work waits for its review. */
  keepTreesH: number;
  /** Folder for stores, trees and logs. */
  workDir: string;
  repos: readonly RepoRules[];
  agents: readonly AgentRules[];
}
