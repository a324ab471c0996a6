import type { AskType } from "../../core/model/ask-type.ts";
import { OWN_TASK, ownTaskOf, type OwnTask } from "../../requests/model/task-of-request.ts";
import type { Request, Outcome } from "../../requests/model/request.ts";
import type { NewTaskEvent } from "./task.ts";
import { NO_ONE, whoseWords, type PermissionDecision, type QuestionAnswer, type AskingAgent } from "./attempt-asks.ts";
import type { AskStatus } from "../../asks/model/ask.ts";

/** Who holds a key of scope `agent`; that of an attempt has the attempt's id for a name. */
const AGENT = "agent:";

/** Returns the principal that an attempt's key stands for. */
export function askerOf(attemptId: string): string {
  return `${AGENT}${attemptId}`;
}

/** Returns the attempt whose key a principal would be of, if it is that of an attempt at all. */
export function attemptIdOf(principal: string): string | null {
  return principal.startsWith(AGENT) ? principal.slice(AGENT.length) : null;
}

/** Returns the words of a request that the submitter of the task may see. */
export function safeWordsOf(request: Pick<Request, "title" | "words" | "wire">): { title: string; words: string } {
  const { title, words } = ownTaskOf(request)?.safe ?? request;
  return { title, words };
}

/** Returns an ask to people as that of a coding agent's task, which stands behind the agent's own words. */
export function asOwnOf<T extends Pick<Request, "words" | "wire">>(request: T, task: OwnTask, whose: AskingAgent): T {
  return {
    ...request,
    words: [request.words, whoseWords(whose)].filter((part) => part !== "").join("\n\n"),
    wire: { ...request.wire, [OWN_TASK]: task },
  };
}

/** Returns what the log of its task says of an ask, its secrets included. */
export function askedEvent({ id, form, words }: Pick<Request, "id" | "form" | "words">): NewTaskEvent {
  if (form.kind === "approval") {
    const { fn, kwargs } = form;
    const data = { ref: id, tool: fn, input: JSON.parse(kwargs) as unknown, action: "tool", resource: fn };
    return { type: "permission", data };
  }
  const options = form.kind === "reply" ? form.options : [];
  const shown = options.map(({ name, title, description }) => ({
    label: title ?? name,
    ...(description !== undefined && { description }),
  }));
  return { type: "question", data: { ref: id, text: words, options: shown } };
}

/** Returns the event of its end; `by` is the name of the decider. */
export function answeredEvent(
  { id, form }: Pick<Request, "id" | "form">,
  outcome: Outcome,
  by: string | null,
): NewTaskEvent {
  const text = outcomeText({ form }, outcome) ?? "";
  const named = by === null || text === "" ? (by ?? text) : `${by}: ${text}`;
  const answer: PermissionDecision | QuestionAnswer =
    form.kind === "approval"
      ? outcome.approved
        ? { allow: true }
        : { allow: false, why: named }
      : outcome.status === "answered"
        ? { text, ...(by !== null && { by }) }
        : { none: true, why: named };
  return { type: "answer", data: { ref: id, ...answer } };
}

/** Returns the answer to an ask that is over, or the reason that it has no answer; null for a bare yes or no. */
export function outcomeText({ form }: Pick<Request, "form">, outcome: Outcome): string | null {
  const { status, comment, option, text, value } = outcome;
  if (status === "expired") return NO_ONE;
  if (status === "cancelled") return comment ?? "it was withdrawn";
  const options = form.kind === "reply" ? form.options : form.kind === "approval" ? form.rejectOptions : [];
  const chosen = options.find(({ name }) => name === option);
  const words = [chosen && (chosen.title ?? chosen.name), text ?? value, comment].filter((part) => part !== undefined);
  return words.length === 0 ? null : [...new Set(words)].join("\n");
}

/** Returns the kind of an ask to people, in the words of asks of a job. */
export function askTypeOf({ form }: Pick<Request, "form">): AskType {
  if (form.kind === "approval") return "APPROVAL";
  return form.kind === "reply" && form.options.length > 0 ? "CHOICE" : "CLARIFICATION";
}

/** Returns how it stands, in the same words. */
export function askStatusOf({ state, outcome }: Pick<Request, "state" | "outcome">): AskStatus {
  if (state === "open") return "PENDING";
  if (state === "expired") return "TIMEOUT";
  return state === "cancelled" || outcome?.approved === false ? "REJECTED" : "ANSWERED";
}
