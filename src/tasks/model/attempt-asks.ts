import type { Sandbox } from "../../core/model/sandbox.ts";
import type { PermissionAction } from "./action.ts";
import type { RelayAnswer } from "../../asks/model/ask.ts";
import { DECLINED } from "../../asks/model/people.ts";
import { cutTo } from "../../core/model/title.ts";

/** What an agent wants to do. `tool` and `input` are exactly what it sent: they are what people approve. */
export interface PermissionWish {
  tool: string;
  input: Readonly<Record<string, unknown>>;
  action: PermissionAction;
  /** A path from the tree (`isInTree` tells whether it is inside), a whole command line, a URL's host, or the tool. */
  resource: string;
  /** For writes: what would change, as a unified diff or the new text, where the agent says it. */
  diff?: string;
  /** A link on the way leads out of the tree, although the path does not; said by whoever can look, never by agents. */
  leadsOutside?: boolean;
}

export type PermissionDecision =
  | { allow: true }
  /** `why` is for the model: a person's words, or why nobody decided. */
  | { allow: false; why: string; canceled?: boolean };

export interface QuestionWish {
  text: string;
  /** Empty: free words. */
  options: readonly { label: string; description?: string }[];
  multiple?: boolean;
}

export type QuestionAnswer = { text: string; by?: string } | { none: true; why: string };

/** What an agent waits for. */
export type AgentWish = PermissionWish | QuestionWish;

/** Whose wish it is, as people are told. */
export interface Wisher {
  repo: string;
  taskId: string;
  /** The first line of its prompt. */
  title?: string;
  agent: string;
  sandbox: Sandbox;
}

const DOES: Readonly<Record<PermissionAction, string>> = {
  read: "Read",
  write: "Write",
  execute: "Run:",
  network: "Reach",
  tool: "Use",
  reconfigure: "Change settings of coding agents:",
};
const SANDBOX: Readonly<Record<Sandbox, string>> = {
  bubblewrap: "It runs in a sandbox (bubblewrap).",
  none: "No sandbox: it runs as you, with your files and your network.",
};
const MOST_PROMPT_CHARS = 16_000;
const MOST_RESOURCE_CHARS = 4000;
export const NO_ONE = "no one answered";

/** Returns whether an agent wants to do something; else it asks something. */
export function isPermission(wish: AgentWish): wish is PermissionWish {
  return "tool" in wish;
}

/** Returns what people read of a wish, before and around what they approve; no store takes what stands for a NUL in it. */
export function promptOf(wish: AgentWish, who: Wisher): string {
  return wordsOf(wish, who).replaceAll("\0", "\u2400");
}

/** Returns the sentence that says for which task an agent asks, and how it is kept apart. */
export function whoseWords({ repo, taskId, title, agent, sandbox }: Wisher): string {
  const named = title === undefined || title === taskId ? taskId : `${taskId} (${title})`;
  return `For task ${named} in ${repo}, by ${agent}. ${SANDBOX[sandbox]}`;
}

function wordsOf(wish: AgentWish, who: Wisher): string {
  const whose = whoseWords(who);
  if (!isPermission(wish)) return cutTo(MOST_PROMPT_CHARS, [questionText(wish), whose].join("\n\n"));
  const { action, resource, diff } = wish;
  const first = `${DOES[action]} ${cutTo(MOST_RESOURCE_CHARS, resource)}`;
  return cutTo(MOST_PROMPT_CHARS, [first, whose, ...(diff ? [`What would change:\n${diff}`] : [])].join("\n\n"));
}

function questionText({ text, options, multiple = false }: QuestionWish): string {
  const described = options.flatMap(({ label, description }) => (description ? [`${label}: ${description}`] : []));
  if (!multiple) return [text, ...described].join("\n");
  const lines = options.map(
    ({ label, description }, i) => `#${i + 1} ${label}${description ? `: ${description}` : ""}`,
  );
  return [text, "Any of these by label or number, separated by commas, or other words:", ...lines].join("\n");
}

/** Returns the labels to choose one from; none where words are wanted, or more than one may be chosen. */
export function choicesOf(wish: AgentWish): readonly string[] {
  if (isPermission(wish) || wish.multiple) return [];
  return wish.options.map(({ label }) => label);
}

/**
 * Returns what an answer decides. Only a person's approval of exactly `digest`, and a rule or a grant that matched, allow
 * anything; silence and everything unforeseen is a no (spec/assignment 8).
 */
export function decisionFrom(answer: RelayAnswer, digest: string | null): PermissionDecision {
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

/** Returns what an answer says to a question. */
export function answerOf(answer: RelayAnswer): QuestionAnswer {
  if (answer.status !== "ANSWERED") return { none: true, why: whyNot(answer) };
  const text = answer.text ?? (answer.json === undefined ? "" : JSON.stringify(answer.json));
  return { text, ...(answer.answeredBy !== undefined && { by: answer.answeredBy }) };
}

function whyNot({ status, error = "", errorCode, answeredBy, policyTrace }: RelayAnswer): string {
  if (status === "TIMEOUT") return NO_ONE;
  const said = error.replace(/^E_[A-Z_]+: /, "");
  if (errorCode === "E_HUMAN_REJECT") {
    const name = answeredBy ?? "a person";
    return said === DECLINED ? `${name} declined` : `${name}: ${said}`;
  }
  if (errorCode === "E_POLICY_DENY") return `policy (${policyTrace?.policy ?? "a rule"}): ${said}`;
  if (errorCode === "E_CANCELED") return "it was withdrawn, because the work ends";
  return said === "" ? NO_ONE : `nobody could be asked: ${said}`;
}
