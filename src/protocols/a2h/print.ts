import { kindOf } from "../../channels/kinds.ts";
import { readExactJson } from "../../lib/json/exact-json.ts";
import { NO_DEADLINE, type Request, type DecidedBy, type Inquiry, type Via } from "../../requests/model/request.ts";
import type { CallOutcome } from "../../requests/model/call-outcome.ts";
import { inquiryIdOf } from "../../requests/model/inquiry.ts";
import { agentName, optionsOf } from "../../requests/model/view.ts";
import { isJoint, leavesOf } from "../../requests/model/audience.ts";
import type { RequestDetails } from "../../requests/read/read-request.ts";
import { given } from "./fields.ts";
import { writtenOf } from "./written.ts";
import { API_VERSION, type WireMessage, type WireMessageStatus } from "../../wire/message.ts";
import type {
  WireApproval,
  WireCallOutcome,
  WireCallStatus,
  WireContactStatus,
  WireFailedValidation,
  WireInquiry,
  WireRequestDelivery,
  WireRequestStatus,
  WireResponder,
  WireSlackContext,
} from "../../wire/a2h/request.ts";
import { consentDigestOf } from "../../requests/model/consent.ts";

const MOST_DELIVERIES = 20;

/** Returns a moment as RFC 3339 in UTC, with milliseconds. */
export function wireTime(at: number): string {
  return new Date(at).toISOString();
}

/** The status of a call before the arguments stand in it. */
type DecidedStatus = Omit<WireCallStatus, "kwargs" | "edited">;

/** Returns a call or a contact as JSON text; `kwargs` and `state` stand in it as they came (spec/a2h 5.4). */
export function printRequest(
  request: Request,
  details: RequestDetails,
  proof: Pick<WireCallStatus, "receipt" | "receipt_key"> = {},
): string {
  const { run_id, id: call_id, spec } = writtenOf(request);
  const status = { ...callStatusOf(request, details), ...proof };
  const head = JSON.stringify({ run_id, call_id, agent_prompt: request.wire["agent_prompt"] });
  return `${head.slice(0, -1)},"spec":${spec},"status":${withArguments(request, status)}}`;
}

/** Returns the status of a call or a contact, without the arguments that people may have edited. */
export function callStatusOf(request: Request, details: RequestDetails): DecidedStatus | WireContactStatus {
  const common = statusOf(request, details);
  return request.form.kind === "approval"
    ? { ...common, ...callStatus(request, details) }
    : { ...common, ...replyOf(request) };
}

/** Returns a message as JSON text (spec/a2h 14). */
export function printMessage(request: Request, details: RequestDetails): string {
  const { id: uid, spec } = writtenOf(request);
  const head: Omit<WireMessage, "spec" | "status"> = { apiVersion: API_VERSION, kind: "Message", metadata: { uid } };
  const { outcome } = request;
  const status: WireMessageStatus =
    request.state === "open" && !request.refused && !request.inquiries
      ? {}
      : given({
          ...(request.state === "answered" && { humanMessage: outcome?.text ?? "", response: responseOf(request) }),
          responded_at: request.state === "answered" ? settledAt(request) : undefined,
          ...ending(request),
          user_info: userOf(request, outcome?.by, details),
          failed_validation_details: failureOf(request, details),
          inquiries: inquiriesIn(request, details),
        });
  return `${JSON.stringify(head).slice(0, -1)},"spec":${spec},"status":${JSON.stringify(status)}}`;
}

function responseOf({ form, outcome }: Request): WireMessageStatus["response"] {
  if (form.kind !== "value" || form.schema === null || outcome?.value === undefined) return undefined;
  return readExactJson(outcome.value);
}

const settledAt = (request: Request) => (request.settledAt === null ? undefined : wireTime(request.settledAt));

function ending(request: Request): Pick<WireRequestStatus, "expired" | "cancelled"> {
  return {
    ...(request.state === "expired" && { expired: true }),
    ...(request.state === "cancelled" && { cancelled: true }),
  };
}

function statusOf(request: Request, details: RequestDetails): WireRequestStatus {
  const slack = details.deliveries.find((one) => one.channel === "slack" && one.externalIds?.["ts"] !== undefined);
  const deliveries = deliveriesOf(details);
  return given({
    requested_at: wireTime(request.createdAt),
    responded_at: request.state === "answered" ? settledAt(request) : undefined,
    resolved_at: settledAt(request),
    expires_at: request.expiresAt >= NO_DEADLINE ? undefined : wireTime(request.expiresAt),
    ...ending(request),
    ask_id: request.id,
    user_info: userOf(request, request.outcome?.by, details),
    slack_context: slackContextOf(request, details),
    slack_message_ts: slack?.externalIds?.["ts"],
    failed_validation_details: failureOf(request, details),
    deliveries: deliveries.length > 0 ? deliveries : undefined,
    inquiries: inquiriesIn(request, details),
  });
}

function inquiriesIn(request: Request, details: RequestDetails): WireInquiry[] | undefined {
  return request.inquiries?.map((inquiry, i) => printInquiry(request, inquiry, { place: i + 1, details }));
}

/** Returns an inquiry about a request, as its agent reads it (spec/a2h 23). Its place counts from 1 on. */
export function printInquiry(
  { id }: Request,
  { person, text, at, answer, answeredAt }: Inquiry,
  { place, details }: { place: number; details: RequestDetails },
): WireInquiry {
  const by = details.humans.get(person);
  const role = by?.title ?? undefined;
  return given({
    id: inquiryIdOf(id, place),
    text,
    user_info: given({ id: by && String(by.number), name: by?.name ?? "somebody", role, via: "web" as const }),
    at: wireTime(at),
    answer,
    answered_at: answeredAt === undefined ? undefined : wireTime(answeredAt),
  });
}

/** Where on Slack it was answered, and by whom; nothing where agents asked a human, and Slack was our choice. */
function slackContextOf(request: Request, { deliveries, decisions }: RequestDetails): WireSlackContext | undefined {
  const { by } = request.outcome ?? {};
  if (by?.via !== "slack") return undefined;
  const responder = decisions.find(({ decision }) => decision.by.id === by.id)?.responder;
  const posted = deliveries.filter(({ channel, externalIds }) => channel === "slack" && externalIds?.["ts"]);
  const answeredIn = responder?.slackMember?.channel;
  const one = posted.find(({ externalIds }) => externalIds?.["channel"] === answeredIn) ?? posted[0];
  if (!one || one.person !== null) return undefined;
  const { team, channel, ts, threadTs } = one.externalIds ?? {};
  const user = responder?.called;
  return given({ team_id: team, channel_id: channel, user_id: user, message_ts: ts, thread_ts: threadTs });
}

const DELIVERY_STATE = {
  queued: "queued",
  sending: "queued",
  sent: "sent",
  closing: "sent",
  closed: "sent",
  failed: "failed",
  skipped: null,
} as const;

function deliveriesOf({ deliveries }: RequestDetails): WireRequestDelivery[] {
  return deliveries
    .flatMap(({ kind, channel, state, changedAt }) => {
      const shown = DELIVERY_STATE[state];
      if (kind !== "ask" || shown === null) return [];
      return [{ via: channel, state: shown, at: wireTime(changedAt) }];
    })
    .slice(-MOST_DELIVERIES);
}

function callStatus(request: Request, details: RequestDetails): Omit<DecidedStatus, keyof WireRequestStatus> {
  const { outcome } = request;
  const approvals = isJoint(request.audience) ? approvalsOf(request, details) : [];
  return given({
    consent_digest: consentDigestOf(request),
    approvals: approvals.length > 0 ? approvals : undefined,
    approved: outcome?.approved,
    comment: commentOf(request),
    reject_option_name: outcome?.approved === false ? outcome.option : undefined,
    outcome: details.callOutcome && printOutcome(details.callOutcome),
  });
}

/** Returns what became of an approved call (spec/a2h 24). */
export function printOutcome({ state, at, words, resultDigest }: CallOutcome): WireCallOutcome {
  return given({
    state,
    at: wireTime(at),
    text: words ?? undefined,
    result_digest: resultDigest ?? undefined,
  });
}

/** A rejection always has words, because clients cannot do without; they are nobody's (spec/a2h 19). */
function commentOf(request: Request): string | undefined {
  const { outcome } = request;
  switch (request.state) {
    case "open":
      return undefined;
    case "expired":
      return `Not answered within ${secondsOf(request)} s; treated as rejected, nobody decided.`;
    case "cancelled":
      return outcome?.comment ? `Cancelled by the agent: ${outcome.comment}` : "Cancelled by the agent";
    case "answered":
      if (outcome?.approved !== false) return outcome?.comment;
      return filled(outcome.comment) ?? optionWords(request) ?? "Rejected without a comment";
  }
}

function replyOf(request: Request): Omit<WireContactStatus, keyof WireRequestStatus> {
  const { outcome } = request;
  switch (request.state) {
    case "open":
      return {};
    case "expired":
      return { response: `[no human answered within ${secondsOf(request)} s]` };
    case "cancelled":
      return { response: "[cancelled by the agent]" };
    case "answered":
      return given({
        response: filled(outcome?.text) ?? optionWords(request) ?? "[answered without words]",
        response_option_name: outcome?.option,
      });
  }
}

const filled = (words: string | undefined) => (words === undefined || words.trim() === "" ? undefined : words);

function optionWords(request: Request): string | undefined {
  const chosen = optionsOf(request).find(({ name }) => name === request.outcome?.option);
  return chosen && (filled(chosen.promptFill) ?? filled(chosen.title) ?? chosen.name);
}

function secondsOf(request: Request): number {
  return Math.round((request.expiresAt - request.createdAt) / 1000);
}

/** Adds the arguments to run, where people could edit them, digit for digit. */
function withArguments(request: Request, status: object): string {
  const text = JSON.stringify(status);
  const { kwargs, edited } = request.outcome ?? {};
  if (kwargs === undefined || edited === undefined) return text;
  return `${text.slice(0, -1)},"kwargs":${kwargs},"edited":${String(edited)}}`;
}

function approvalsOf(request: Request, details: RequestDetails): WireApproval[] {
  return details.decisions.map(({ decision }) =>
    given({
      user_info: userOf(request, decision.by, details),
      approved: decision.approved ?? undefined,
      comment: decision.comment,
      at: wireTime(decision.at),
      consent_digest: decision.digest,
    }),
  );
}

/** Returns how whoever decided is called, if somebody did. */
export function nameOf(request: Request, details: RequestDetails): string | undefined {
  return userOf(request, request.outcome?.by, details)?.name;
}

/** Says who decided; of somebody who is not enrolled only that, and what the agent wrote itself. */
function userOf(request: Request, by: DecidedBy | undefined, details: RequestDetails): WireResponder | undefined {
  if (!by) return undefined;
  const { via } = by;
  switch (by.kind) {
    case "policy":
      return { name: `policy: ${by.id}`, via };
    case "agent":
      return { name: agentName(by.id), via };
    case "person": {
      const human = details.humans.get(by.id);
      const email = via === "email" ? emailOf(request, by, details) : undefined;
      return given({
        id: human && String(human.number),
        name: human?.name ?? "somebody",
        role: human?.title ?? undefined,
        email,
        via,
      });
    }
    case "address": {
      const value = by.id.slice(by.id.indexOf(":") + 1);
      const isNotified = writtenBy(request).has(value);
      const email = isNotified && via === "email" ? value : undefined;
      return given({
        name: isNotified ? value : (UNNAMED[via] ?? kindOf(via)?.decider ?? "an addressee"),
        email,
        via,
        enrolled: false,
      });
    }
  }
}

const UNNAMED: Readonly<Partial<Record<Via, string>>> = { web: "somebody in the inbox", policy: "a rule" };

/** Every address, number and Slack user that the agent wrote itself. */
function writtenBy({ audience }: Request): ReadonlySet<string> {
  return new Set(
    leavesOf(audience).flatMap(({ target }) => {
      if (!("settings" in target)) return [];
      return [target.to, ...(target.allowed ?? [])];
    }),
  );
}

function emailOf(request: Request, by: DecidedBy, { decisions }: RequestDetails): string | undefined {
  const written = writtenBy(request);
  const decided = decisions.find(({ decision }) => decision.by.id === by.id);
  return decided?.responder.identities.find(({ kind, value }) => kind === "email" && written.has(value))?.value;
}

/** Words of somebody who had no right to answer are not kept, and so cannot be printed (spec/a2h 5.5). */
function failureOf(request: Request, { humans }: RequestDetails): WireFailedValidation | undefined {
  const { refused } = request;
  if (!refused || request.state !== "open") return undefined;
  return given({
    at: wireTime(refused.at),
    via: refused.via,
    responder: { name: humans.get(refused.responder)?.name ?? "unknown" },
    reason: refused.reason,
    input: refused.input,
    errors: refused.errors && [...refused.errors],
    attempts: refused.attempts,
  });
}
