import type { Tokens } from "../../asks/model/model-budget.ts";

/** Which model the child speaks to; the key itself stands in the child's environment under `keyName`. */
export interface ModelAddress {
  provider: "anthropic" | "openai" | "google" | "openai-compatible";
  model: string;
  baseUrl: string | null;
  keyName: string | null;
  temperature: number;
}

/** A tool as the model is shown it. */
export interface ShownTool {
  /** Letters, digits, `_` and `-`, as every provider wants it. */
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
}

/** One conversation with the model, from the prompt to its last words. */
export interface Turn {
  system: string;
  user: string;
  tools: readonly ShownTool[];
  maxTokens: number;
  /** Rounds of the model before it must have spoken. */
  maxRounds: number;
  /** The most characters of prompt and tool results together; later results are cut. */
  maxInputChars: number;
  limitMs: number;
}

/** A message from the parent; one JSON text a line. */
export type ToChild =
  | { type: "begin"; address: ModelAddress }
  | { type: "turn"; turn: Turn }
  /** May the model be called? */
  | { type: "spend"; may: boolean }
  /** The result of a tool, in the order of the calls. */
  | { type: "result"; text: string };

/** A message from the child. It makes one request at a time, and waits for the reply. */
export type FromChild =
  | { type: "ready" }
  /** It is about to send at most this much to the model. */
  | { type: "spend"; most: Tokens }
  /** The tokens that the call used; null if unknown. */
  | { type: "spent"; tokens: Tokens | null }
  | { type: "call"; name: string; args: unknown }
  | { type: "done"; text: string }
  | { type: "failed"; why: FailedTurn; says: string };

/** `model`: it or its provider; `time`: the limit; `budget`: the parent refused; `ours`: everything else. */
export type FailedTurn = "model" | "time" | "budget" | "ours";

/** Returns a message as it goes over the pipe. */
export function lineOf(message: ToChild | FromChild): string {
  return `${JSON.stringify(message)}\n`;
}
