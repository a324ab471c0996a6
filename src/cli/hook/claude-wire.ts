import { parseExactJson } from "../../lib/json/exact-json.ts";

/** The input that Claude Code sends to a hook that may decide: only the members used here. */
export interface HookInput {
  hook_event_name: "PermissionRequest" | "PreToolUse";
  session_id: string;
  tool_name: string;
  tool_input: Record<string, unknown>;
  /** The input as people are shown it, which is what they approve. */
  shown: Record<string, unknown>;
  tool_use_id?: string;
  transcript_path?: string;
}

/** The reply to Claude Code: yes or no with a reason, or undecided, so that Claude Code asks at its own terminal. */
export type HookDecision =
  | { is: "allow"; because: string; updatedInput?: object }
  | { is: "deny"; because: string }
  | { is: "undecided"; because: string };

/**
 * Reads the text that came on standard input; nothing for an event in which there is nothing to decide. Whatever a parser
 * of JSON takes is taken. An input that is no JSON as RFC 8785 wants it (a lone surrogate, a name twice, deep nesting) is
 * shown as its text, with escapes.
 *
 * @throws {Error} in one sentence
 */
export function readHookInput(bytes: Uint8Array): HookInput | null {
  const { value, isExact } = parsed(bytes);
  if (!isObject(value)) throw new Error("standard input holds no hook of Claude Code");
  const { hook_event_name: event, session_id: session, tool_name: tool, tool_input: input } = value;
  const { tool_use_id: use, transcript_path: transcript } = value;
  if (event !== "PermissionRequest" && event !== "PreToolUse") return null;
  if (typeof tool !== "string" || tool === "" || !isObject(input)) {
    throw new Error("the hook names no tool or no input");
  }
  return {
    hook_event_name: event,
    session_id: typeof session === "string" && session !== "" ? session : "unknown",
    tool_name: tool,
    tool_input: input,
    shown: isExact ? input : { input_json: asText(input) },
    ...(typeof use === "string" && { tool_use_id: use }),
    ...(typeof transcript === "string" && { transcript_path: transcript }),
  };
}

const MOST_DEPTH = 64;

function parsed(bytes: Uint8Array): { value: unknown; isExact: boolean } {
  try {
    return { value: parseExactJson(bytes, { maxDepth: MOST_DEPTH }), isExact: true };
  } catch {
    try {
      return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)), isExact: false };
    } catch {
      throw new Error("standard input is not JSON");
    }
  }
}

/** Returns the JSON of an input, in which a lone surrogate is an escape. @throws {Error} for a number that has no JSON */
function asText(input: Record<string, unknown>): string {
  return JSON.stringify(input, (_, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) throw new Error("a number of the input is too large");
    return value;
  });
}

/**
 * Returns what Claude Code reads on standard output. Each event has its own form for no decision: it
 * leaves the decision to the person at the terminal, and never to a rule that allows.
 */
export function decisionJson(
  { hook_event_name: event }: Pick<HookInput, "hook_event_name">,
  hookDecision: HookDecision,
): string {
  const { is, because } = hookDecision;
  const updated =
    hookDecision.is === "allow" && hookDecision.updatedInput ? { updatedInput: hookDecision.updatedInput } : {};
  if (event === "PreToolUse") {
    const permissionDecision = is === "undecided" ? "ask" : is;
    const decision = { hookEventName: event, permissionDecision, permissionDecisionReason: because, ...updated };
    return JSON.stringify({ hookSpecificOutput: decision });
  }
  if (is === "undecided") return JSON.stringify({ systemMessage: because });
  const decision = is === "allow" ? { behavior: "allow", ...updated } : { behavior: "deny", message: because };
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, decision } });
}

/** One question of Claude Code's own tool for asking, with what can be chosen. */
export interface HookQuestion {
  question: string;
  header: string;
  /** Several of the options may be chosen. */
  multiSelect: boolean;
  options: { label: string; description: string }[];
}

/** The tool by which Claude Code asks its user. */
export const ASKING_TOOL = "AskUserQuestion";

/** Returns the questions that Claude Code would ask its user; nothing where they are not as they are known to be. */
export function questionsOf({ tool_input: input }: HookInput): HookQuestion[] | null {
  const { questions } = input;
  if (!Array.isArray(questions) || questions.length === 0) return null;
  const read = questions.map((one: unknown): HookQuestion | null => {
    if (!isObject(one) || typeof one["question"] !== "string") return null;
    const options = Array.isArray(one["options"]) ? (one["options"] as unknown[]) : [];
    const labelled = options.filter(isObject).filter(({ label }) => typeof label === "string" && label !== "");
    return {
      question: one["question"],
      header: typeof one["header"] === "string" ? one["header"] : "",
      multiSelect: one["multiSelect"] === true,
      options: labelled.map(({ label, description }) => ({
        label: label as string,
        description: typeof description === "string" ? description : "",
      })),
    };
  });
  return read.every((one) => one !== null) ? read : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
