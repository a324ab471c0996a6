import { canonicalExact, membersOf, readExactJson, sha256Digest } from "../../lib/json/exact-json.ts";
import type { RequestForm, ForeignSchema, Outcome } from "../../requests/model/request.ts";
import { chosenAt } from "./choice-options.ts";
import { consentText } from "../../requests/model/consent.ts";
import type { PolicyInput } from "../../policy/model/policy.ts";
import { codeIn, errorText, type ChoiceOption, type ErrorCode, type AskAnswer, type Ask } from "./ask.ts";
import { cutTo } from "../../core/model/title.ts";

/** The door of what people and the crowd are asked that stands for an executor's ask. */
export const RELAY_DOOR = "relay";

/** The longest text of an answer; what is longer is cut and marked (spec/relay 4). */
export const MOST_ANSWER_CHARS = 8000;

/** The action that people are asked to approve where the ask names no action. */
const UNNAMED = "relay.approval";
/** The reason of a rejection for which the person gave no reason. */
export const DECLINED = "a person declined";

/** Returns whether an ask is a decision that only people and rules may make. */
export function isDecision({ type }: Pick<Ask, "type">): boolean {
  return type === "APPROVAL" || type === "POLICY_DECISION";
}

/** Returns whether an answer to a decision allows what was asked for. */
export function allowsCall({ type }: Pick<Ask, "type">, { status, json }: Pick<AskAnswer, "status" | "json">): boolean {
  if (status !== "ANSWERED") return false;
  const { approved, decision } = membersOf(json);
  return type === "APPROVAL" ? approved === true : type === "POLICY_DECISION" && decision === "ALLOW";
}

/**
 * Returns what people are shown of an APPROVAL or a POLICY_DECISION, with its digest: rendered by the server, from what
 * would run (spec/relay 13).
 */
export function consentOf(
  ask: Pick<Ask, "prompt" | "meta">,
  input: Pick<PolicyInput, "env">,
): { fn: string; kwargs: string; digest: string } {
  const { action, args, resource } = ask.meta;
  const fn = typeof action === "string" && action.trim() !== "" ? action : UNNAMED;
  const kwargs = canonicalExact({ args, env: input.env, prompt: ask.prompt, resource });
  return { fn, kwargs, digest: sha256Digest(consentText(fn, kwargs)) };
}

/** Returns what people are asked for: approve or reject, one of the options, a value that fits the schema, or words. */
export function formOf(
  ask: Pick<Ask, "type" | "prompt" | "meta">,
  more: { input: Pick<PolicyInput, "env">; options: readonly ChoiceOption[]; schema: ForeignSchema | null },
): RequestForm {
  if (isDecision(ask)) {
    const { fn, kwargs } = consentOf(ask, more.input);
    return { kind: "approval", fn, kwargs, rejectOptions: [], editable: false };
  }
  if (more.options.length > 0) {
    const options = more.options.map(({ label }, i) => ({ name: String(i + 1), title: label, interactive: false }));
    return { kind: "reply", options, listed: true, declinable: true };
  }
  if (more.schema) return { kind: "value", schema: more.schema, declinable: true };
  return { kind: "reply", options: [], declinable: true };
}

/** The parts of an answer that follow from how people ended an ask. */
type FromPeople = Pick<AskAnswer, "status" | "cacheable" | "truncated"> &
  Partial<Pick<AskAnswer, "text" | "json" | "artifacts" | "askBack" | "error" | "errorCode" | "consentDigest">>;

/** Returns the answer that people's outcome is (spec/relay 13). */
export function answerFrom(
  ask: Pick<Ask, "type" | "createdAt" | "expiresAt">,
  options: readonly ChoiceOption[],
  outcome: Outcome,
): FromPeople {
  const base = { cacheable: false, truncated: false };
  const failed = (status: AskAnswer["status"], code: ErrorCode, text: string): FromPeople => ({
    ...base,
    status,
    errorCode: code,
    error: errorText(code, text),
    ...(outcome.digest !== undefined && { consentDigest: outcome.digest }),
  });
  if (outcome.status === "expired") return failed("TIMEOUT", "E_TIMEOUT", timeoutText(ask));
  if (outcome.status === "cancelled") return failed("ERROR", "E_CANCELED", "the ask was withdrawn");
  const { askBack, artifacts } = outcome;
  const beside = { ...(askBack !== undefined && { askBack }), ...(artifacts && { artifacts }) };
  const json = outcome.value === undefined ? undefined : readExactJson(outcome.value);
  if (outcome.approved === false) {
    const rejected = failed("REJECTED", "E_HUMAN_REJECT", outcome.comment ?? outcome.text ?? DECLINED);
    return { ...rejected, ...beside, ...(json !== undefined && { json }) };
  }
  if (outcome.approved === true) {
    // Text that a program sent beside a decision or a choice stays beside it.
    const yes =
      ask.type === "POLICY_DECISION"
        ? { decision: "ALLOW", rules: [], by: "person" }
        : { approved: true, by: "person" };
    return {
      ...base,
      ...beside,
      status: "ANSWERED",
      json: { ...membersOf(json), ...yes },
      ...(outcome.comment !== undefined && cut(outcome.comment)),
      ...(outcome.digest !== undefined && { consentDigest: outcome.digest }),
    };
  }
  const answered = { ...base, ...beside, status: "ANSWERED" as const };
  const chosen = outcome.option === undefined ? null : chosenAt(options, Number(outcome.option) - 1);
  if (chosen) return { ...answered, text: chosen.text, json: { ...membersOf(json), ...chosen.json } };
  if (json !== undefined) {
    // Words that are the value itself say nothing more.
    const hasWords = outcome.text !== undefined && outcome.text !== outcome.value && outcome.text !== json;
    return { ...answered, json, ...(hasWords && cut(outcome.text ?? "")) };
  }
  // Clients that know nothing of questions back would else have nothing at all (spec/relay 21).
  const words = outcome.text ?? (askBack === undefined ? "" : `Question back: ${askBack}`);
  return { ...answered, ...cut(words) };
}

function cut(text: string): { text: string; truncated: boolean } {
  const short = cutTo(MOST_ANSWER_CHARS, text);
  return { text: short, truncated: short !== text };
}

const BY_SOURCE: Readonly<Record<AskAnswer["source"], string>> = {
  policy: "the policy",
  cache: "an earlier decision",
  runner: "a model",
  person: "somebody",
  service: "a program",
  server: "nobody",
};
/** At most this much of an earlier answer is repeated. */
const MOST_REPEATED_CHARS = 1000;

/**
 * Returns the text for people about an earlier answer to the same, with its comment. `digest` is of what they are
 * asked to approve now: another one was decided about something else.
 */
export function beforeText(before: AskAnswer, digest: string | null): string {
  const { status, source, json, text, error = "", consentDigest } = before;
  if (status === "TIMEOUT") return "Asked before: nobody answered in time.";
  if (status === "ERROR") return `Asked before, without an answer: ${withoutCode(error)}.`;
  const who = before.answeredBy ?? BY_SOURCE[source];
  const isOther = digest !== null && consentDigest !== undefined && consentDigest !== digest;
  const what = isOther ? "something else in the same words" : "this";
  if (status === "REJECTED") {
    const comment = withoutCode(error);
    return `Asked before: ${who} rejected ${what}${quoted(", and said", comment === DECLINED ? "" : comment)}`;
  }
  if (isYes(json)) return `Asked before: ${who} approved ${what}${quoted(", and said", text ?? "")}`;
  return `Asked before: ${who} answered${quoted("", text ?? (json === undefined ? "" : JSON.stringify(json)))}`;
}

function quoted(before: string, text: string): string {
  const words = text.trim();
  return words === "" ? "." : `${before}: "${cutTo(MOST_REPEATED_CHARS, words)}"`;
}

function isYes(json: unknown): boolean {
  if (typeof json !== "object" || json === null) return false;
  return ("approved" in json && json.approved === true) || ("decision" in json && json.decision === "ALLOW");
}

function withoutCode(error: string): string {
  const code = codeIn(error);
  return code === null ? error : error.slice(errorText(code, "").length);
}

/** Returns why an ask that nobody answered timed out. */
export function timeoutText({ createdAt, expiresAt }: Pick<Ask, "createdAt" | "expiresAt">): string {
  return `no answer within ${Math.round((expiresAt - createdAt) / 1000)} s`;
}
