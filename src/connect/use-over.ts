import { canonicalExact, sha256Digest } from "../lib/json/exact-json.ts";
import { printable } from "../lib/printable.ts";
import type { AgentPrompt, PromptingAgent, UseOver } from "./agent.ts";

/** The session of the prompts by which people try a hook: nothing runs in it. */
export const TEST_SESSION = "parley-connect";

/** Marks of a use of a tool: the prompt leaves them with its request, and the end of the use finds it by them. */
export interface UseMarks {
  use?: string;
  use_digest?: string;
}

type Use = Pick<AgentPrompt, "session" | "tool" | "input" | "useId">;

/** Returns the name of a use for one request of it, where the agent names its uses; its questions are its parts. */
export function useOf({ session, useId }: Pick<AgentPrompt, "session" | "useId">, part = 0): string | undefined {
  return useId === undefined ? undefined : sha256Digest(JSON.stringify([session, useId, part]));
}

/** Returns the digest by which the end of a prompt's use finds its request; nothing where no event tells the end. */
export function endMarkOf({ after }: PromptingAgent, prompt: Use): string | undefined {
  if (!after || prompt.session === TEST_SESSION) return undefined;
  const input = after.inputOf ? after.inputOf(prompt) : prompt.input;
  return input === null ? undefined : digestOf({ ...prompt, input });
}

/** Returns the marks of a use that is over. */
export function marksOf(over: UseOver): UseMarks {
  const [use, use_digest] = [useOf(over), digestOf(over)];
  return { ...(use !== undefined && { use }), ...(use_digest !== undefined && { use_digest }) };
}

/** Returns the id of the run that a session is, as its requests carry it. */
export const runOfSession = (session: string): string => printable(session).slice(0, 256);

/** Returns what an agent reads on standard output after a tool, so that its model has these texts at its next turn. */
export function printedNotes(event: string, texts: readonly string[]): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: texts.join("\n\n") } });
}

/** Returns the report about a use that is over, as `POST /agent_prompts/outcome` takes it; null for one that did not run. */
export function reportOf({ name }: Pick<PromptingAgent, "name">, over: UseOver) {
  if (over.end === null) return null;
  const { tool, end: outcome, status, result } = over;
  const result_digest = result === undefined ? undefined : resultDigestOf(result);
  return {
    agent: name,
    tool,
    ...marksOf(over),
    outcome,
    ...(over.takesNotesAt !== undefined && { run_id: runOfSession(over.session) }),
    ...(status !== undefined && { text: status }),
    ...(result_digest !== undefined && { result_digest }),
  };
}

/** A lone surrogate has no canonical JSON: such a use is found by its id, or not at all. */
function digestOf({ session, tool, input }: Use): string | undefined {
  return canonicalDigest([session, tool, input]);
}

/** A text is hashed as it is, and any other value as its canonical JSON. */
function resultDigestOf(result: unknown): string | undefined {
  return typeof result === "string" ? sha256Digest(result) : canonicalDigest(result);
}

function canonicalDigest(value: unknown): string | undefined {
  try {
    return sha256Digest(canonicalExact(value));
  } catch {
    return undefined;
  }
}
