import type { SandboxKind } from "../../core/model/sandbox.ts";
import type { PermissionAction } from "./action.ts";
import type { AskAnswer } from "../../asks/model/ask.ts";
import { DECLINED } from "../../asks/model/people.ts";
import { cutTo } from "../../core/model/title.ts";

/** A tool call that an agent wants to make. `tool` and `input` are exactly as it sent them: people approve these. */
export interface PermissionRequest {
  tool: string;
  input: Readonly<Record<string, unknown>>;
  action: PermissionAction;
  /**
   * A path from the tree (`isInTree` returns whether it is inside), a whole command line, a URL's host, or the tool.
   */
  resource: string;
  /** For writes: the change, as a unified diff or the new text, if the agent sends it. */
  diff?: string;
  /** A link on the way leads out of the tree, although the path does not. The supervisor sets this, never an agent. */
  leadsOutside?: boolean;
  /** The workshop sees how the use of the tool ends, and reports it. The supervisor sets this, never an agent. */
  reportsEnd?: boolean;
}

export type PermissionDecision =
  | { allow: true }
  /** `why` is for the model: a person's words, or why nobody decided. */
  | { allow: false; why: string; canceled?: boolean };

/** How a use of a tool that was allowed has ended, without its output. */
export interface UseReport {
  /** `not_run`: another part of the use was denied. */
  state: "done" | "failed" | "not_run";
  /** `sha256:…` of the result. */
  resultDigest?: string;
  /** The plain status, such as `exit 1`. */
  words?: string;
}

export interface AgentQuestion {
  text: string;
  /** Empty: free words. */
  options: readonly { label: string; description?: string }[];
  multiple?: boolean;
  /** A JSON Schema that the answer has to fit: people fill in a form, and the answer's text is the value in JSON. */
  schema?: Readonly<Record<string, unknown>>;
}

export type QuestionAnswer = { text: string; by?: string } | { none: true; why: string };

/** A request that an agent waits for. */
export type AgentRequest = PermissionRequest | AgentQuestion;

/** The requester, as people see it. */
export interface AskingAgent {
  repo: string;
  taskId: string;
  /** The first line of its prompt. */
  title?: string;
  agent: string;
  sandbox: SandboxKind;
}

const DOES: Readonly<Record<PermissionAction, string>> = {
  read: "Read",
  write: "Write",
  execute: "Run:",
  network: "Reach",
  tool: "Use",
  reconfigure: "Change settings of coding agents:",
};
const SANDBOX: Readonly<Record<SandboxKind, string>> = {
  bubblewrap: "It runs in a sandbox (bubblewrap).",
  none: "No sandbox: it runs as you, with your files and your network.",
};
const MOST_PROMPT_CHARS = 16_000;
const MOST_RESOURCE_CHARS = 4000;
export const NO_ONE = "no one answered";

/** Returns whether an agent wants to do something; else it asks something. */
export function isPermission(http: AgentRequest): http is PermissionRequest {
  return "tool" in http;
}

/** Returns the text of a request around the call to approve. NUL is replaced, because no store takes it. */
export function promptOf(http: AgentRequest, who: AskingAgent): string {
  return wordsOf(http, who).replaceAll("\0", "\u2400");
}

/** Returns the sentence that says for which task an agent asks, and how it is kept apart. */
export function whoseWords({ repo, taskId, title, agent, sandbox }: AskingAgent): string {
  const named = title === undefined || title === taskId ? taskId : `${taskId} (${title})`;
  return `For task ${named} in ${repo}, by ${agent}. ${SANDBOX[sandbox]}`;
}

function wordsOf(http: AgentRequest, who: AskingAgent): string {
  const whose = whoseWords(who);
  if (!isPermission(http)) return cutTo(MOST_PROMPT_CHARS, [questionText(http), whose].join("\n\n"));
  const { action, resource, diff } = http;
  const first = `${DOES[action]} ${cutTo(MOST_RESOURCE_CHARS, resource)}`;
  return cutTo(MOST_PROMPT_CHARS, [first, whose, ...(diff ? [`What would change:\n${diff}`] : [])].join("\n\n"));
}

function questionText({ text, options, multiple = false }: AgentQuestion): string {
  const described = options.flatMap(({ label, description }) => (description ? [`${label}: ${description}`] : []));
  if (!multiple) return [text, ...described].join("\n");
  const lines = options.map(
    ({ label, description }, i) => `#${i + 1} ${label}${description ? `: ${description}` : ""}`,
  );
  return [text, "Any of these by label or number, separated by commas, or other words:", ...lines].join("\n");
}

/** Returns the labels to choose one from; none where words are wanted, or more than one may be chosen. */
export function choicesOf(http: AgentRequest): readonly string[] {
  if (isPermission(http) || http.multiple) return [];
  return http.options.map(({ label }) => label);
}

/**
 * Returns what an answer decides. Only a person's approval of exactly `digest`, and a rule or a grant that matched,
 * allow anything; silence and everything unforeseen is a no (spec/assignment 8).
 */
export function decisionFrom(answer: AskAnswer, digest: string | null): PermissionDecision {
  const { status, source, json, policyTrace, consentDigest } = answer;
  if (status !== "ANSWERED") {
    const why = whyNot(answer);
    return answer.errorCode === "E_CANCELED" ? { allow: false, why, canceled: true } : { allow: false, why };
  }
  const isApproved = typeof json === "object" && json !== null && "approved" in json && json.approved === true;
  const byPerson = source === "person" && digest !== null && consentDigest === digest;
  const byRule = source === "policy" && policyTrace?.decision === "ALLOW" && !policyTrace.defaulted;
  if (isApproved && (byPerson || byRule)) return { allow: true };
  return { allow: false, why: "what was approved is not what would be done" };
}

/** Returns what an answer says to a question: in words, or, to a question with a schema, the value in JSON. */
export function answerOf(answer: AskAnswer, hasSchema = false): QuestionAnswer {
  if (answer.status !== "ANSWERED") return { none: true, why: whyNot(answer) };
  const value = answer.json === undefined ? undefined : JSON.stringify(answer.json);
  const text = (hasSchema ? (value ?? answer.text) : (answer.text ?? value)) ?? "";
  return { text, ...(answer.answeredBy !== undefined && { by: answer.answeredBy }) };
}

function whyNot({ status, error = "", errorCode, answeredBy, policyTrace }: AskAnswer): string {
  if (status === "TIMEOUT") return NO_ONE;
  const words = error.replace(/^E_[A-Z_]+: /, "");
  if (errorCode === "E_HUMAN_REJECT") {
    const name = answeredBy ?? "a person";
    return words === DECLINED ? `${name} declined` : `${name}: ${words}`;
  }
  if (errorCode === "E_POLICY_DENY") return `policy (${policyTrace?.policy ?? "a rule"}): ${words}`;
  if (errorCode === "E_CANCELED") return "it was withdrawn, because the work ends";
  return words === "" ? NO_ONE : `nobody could be asked: ${words}`;
}
