import type { AskType } from "../../core/model/ask-type.ts";
import type { Clock } from "../../lib/clock.ts";
import type { ForeignSchemas } from "../../lib/json/foreign-schema.ts";
import type { Job, Ask } from "../../asks/model/ask.ts";
import type { ModelBudget, Tokens } from "../../asks/model/model-budget.ts";
import type { ResponderAnswer, ResponderPass } from "../responder.ts";
import type { Role } from "../roles/role.ts";

/** The settings of the model (`runner`), as they stand in the settings file. */
export interface RunnerSettings {
  /** `provider/model`; absent: there is no runner. */
  model?: string | undefined;
  baseUrl?: string | undefined;
  apiKeyEnv?: string | undefined;
  temperature: number;
}

/** How a server of tools is reached (`mcp_servers`). */
export interface ServerSettings {
  command?: readonly string[] | undefined;
  url?: string | undefined;
  /** Header to the name of the environment variable that holds its value. */
  headers_env?: Readonly<Record<string, string>> | undefined;
  /** A command that prints short-lived credentials for one ask. */
  mint?: readonly string[] | undefined;
}

/** One tool, under the name that asks and roles call it (`tools`). */
export interface ToolSettings {
  server: string;
  tool: string;
  read_only: boolean;
  timeout_ms: number;
  caps_args: Readonly<Record<string, string>>;
}

/** The definition of a tool, as its server gives it. */
export interface ToolDefinition {
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
}

/** The outcome of a run that identical asks share. */
export type RunOutcome = ResponderAnswer | ResponderPass;

/** An event of a run, for metrics. */
export type RunnerEvent =
  | { kind: "tokens"; tokens: Tokens; role: string | null; model: string; job: Job }
  | { kind: "tool"; tool: string; outcome: ToolOutcome; ms: number; bytes: number; ask: Ask; job: Job }
  | { kind: "misfit"; role: string | null; attempt: 1 | 2 }
  | { kind: "run"; outcome: "answered" | "passed" | "failed"; ms: number };

export type ToolOutcome = "done" | "refused" | "failed" | "timeout";

/** Everything that the answer-runner needs and is not. */
export interface RunnerDeps {
  settings: RunnerSettings;
  servers: Readonly<Record<string, ServerSettings>>;
  tools: Readonly<Record<string, ToolSettings>>;
  /** Where keys and headers are looked up, by the names in the settings. */
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  fetch: typeof globalThis.fetch;
  schemas: Pick<ForeignSchemas, "validate" | "examine">;
  log: { warn(details: object, message: string): void; info(details: object, message: string): void };
  roles: { find(roleId: string): Role | null; defaultOf(type: AskType): string | null };
  budget: ModelBudget;
  /** Says whether a tool is what it was when it was first used, or last accepted. */
  pins: { check(tool: string, definition: ToolDefinition): Promise<"same" | "changed"> };
  /** Runs `run` for the first of identical asks; the others get what it gave. */
  share(key: string, askId: string, signal: AbortSignal, run: () => Promise<RunOutcome>): Promise<RunOutcome | null>;
  /** Asks the policy whether a tool that may change something may be called, and resolves once its trace is committed. */
  allowWrite(call: WriteCall): Promise<WriteResult>;
  artifacts: {
    /** @throws {Refusal} where the path or the size is not allowed, or the job has gone on without the ask */
    write(job: { jobId: string; epoch: number }, path: string, bytes: Uint8Array): Promise<void>;
  };
  /** Returns a text without the secrets in it. */
  redact(text: string): Promise<string>;
  /** The text of the policy in force, for an opinion on one decision. */
  policyText(): string;
  policyAdvice: boolean;
  maxAskBackRounds: number;
  observe?(event: RunnerEvent): void;
}

/** A call of a tool that may change something. */
export interface WriteCall {
  ask: Ask;
  job: Job;
  /** `role.x@v1`; null without a role. */
  role: string | null;
  tool: string;
}

export interface WriteResult {
  isAllowed: boolean;
  /** The reason for the model if the call is not allowed. */
  reason: string;
}
