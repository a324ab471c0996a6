import type { Context } from "../../context.ts";
import { CanonicalJson, canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { ANSWERS_INQUIRIES } from "../../requests/model/inquiry.ts";
import type { Request, RequestForm } from "../../requests/model/request.ts";
import { bindCall } from "../../requests/model/bound-call.ts";
import type { Policy } from "../../policy/model/policy.ts";
import { titleOf } from "../../core/model/title.ts";
import { createRequest, type RequestInput, type EscalationRound } from "../../requests/create/create-request.ts";
import { escalationOf } from "../../requests/create/known-recipients.ts";
import { secretName } from "../../core/keep-secret.ts";
import { requestCall } from "../../requests/create/request-call.ts";
import { refuseKeyAsName } from "../http/key-as-name.ts";
import { audienceOf, routeOf, type Asker } from "./addressees.ts";
import { isNamedBy } from "./fixed.ts";
import { DOOR } from "./written.ts";
import { promptOf, type PromptAsked } from "./agent-prompt.ts";
import { given } from "./fields.ts";
import { refuseBadSchema, type ReadCall, type ReadContact, type ReadMessage, type ReadSpec } from "./specs.ts";

type Created = Promise<{ request: Request; replayed: boolean }>;

/**
 * Asks policy, and people for what it leaves to them, whether a function call may run; the ask is bound to the digest of
 * exactly these arguments.
 *
 * @throws {Refusal} `key_required` for a credential as an id, `schema_refused`, `human_unknown`, `channel_not_found`, `scope_missing`, `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function createCall(ctx: Context, policy: Policy, by: Asker, call: ReadCall): Created {
  refuseKeyAsName(call.runId, call.callId);
  const usualSeconds = ctx.addressed.approvalTimeoutSeconds;
  refuseBadSchema(ctx.schemas, "kwargs_schema", call.kwargsSchema);
  const { runId, fn, msg = "", rejectOptions, editable, kwargsSchema } = call;
  const bound = bindCall(fn, call.kwargs);
  await yieldAfterLarge(bound.canonical);
  const echo = { ...call.echo, kwargs: new CanonicalJson(bound.canonical) };
  const sameHash = sameHashOf(ctx, { ...call, echo }, runAndAgent(call));
  await yieldAfterLarge(bound.canonical);
  const prompt = await promptOf(ctx, by.principal, { kind: "call", ...call, sameHash, usualSeconds });
  return requestCall(ctx, policy, {
    ...(await timed(ctx, by, call, { decides: "approval", usualSeconds, prompt })),
    ...prompt.request,
    door: DOOR,
    asker: by.principal,
    ref: `call:${prompt.callId}`,
    title: fn,
    words: msg,
    sameHash,
    bound,
    rejectOptions,
    editable,
    ...(kwargsSchema && { kwargsSchema }),
    wire: {
      run_id: runId,
      call_id: prompt.callId,
      spec: JSON.stringify(call.echo),
      ...(call.reports && { reports: call.reports }),
      ...prompt.wire,
      ...inquiriesOf(call),
    },
  });
}

/**
 * Asks people for a reply.
 *
 * @throws {Refusal} `key_required` for a credential as an id, `human_unknown`, `channel_not_found`, `scope_missing`, `ref_taken`,
 *   `rate_limited`, `quota_exceeded`
 */
export async function createContact(ctx: Context, by: Asker, contact: ReadContact): Created {
  const { runId, msg, subject, options } = contact;
  refuseKeyAsName(runId, contact.callId);
  const sameHash = sameHashOf(ctx, contact, runAndAgent(contact));
  const prompt = await promptOf(ctx, by.principal, { kind: "contact", ...contact, sameHash, usualSeconds: null });
  return createRequest(ctx, {
    ...(await timed(ctx, by, contact, { decides: "reply", usualSeconds: null, prompt })),
    ...prompt.request,
    door: DOOR,
    asker: by.principal,
    ref: `contact:${prompt.callId}`,
    title: titleOf(msg),
    subject,
    words: msg,
    sameHash,
    form: { kind: "reply", options },
    digest: null,
    wire: {
      run_id: runId,
      call_id: prompt.callId,
      spec: JSON.stringify(contact.echo),
      ...prompt.wire,
      ...inquiriesOf(contact),
    },
  });
}

/**
 * Asks people for a value that fits a schema, or for free text where the request has no schema.
 *
 * @throws {Refusal} `key_required` for a credential as an id, `schema_refused`, `human_unknown`, `channel_not_found`, `scope_missing`, `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function createMessage(ctx: Context, by: Asker, message: ReadMessage): Created {
  refuseBadSchema(ctx.schemas, "response_schema", message.schema);
  const uid = message.uid ?? ctx.newId("m");
  return createRequest(ctx, {
    ...(await timed(ctx, by, message, { decides: "value", usualSeconds: null })),
    door: DOOR,
    asker: by.principal,
    ref: `message:${uid}`,
    title: titleOf(message.message),
    words: message.message,
    sameHash: sameHashOf(ctx, message, {}),
    form: { kind: "value", schema: message.schema ?? null },
    digest: null,
    wire: { uid, spec: JSON.stringify(message.echo), ...inquiriesOf(message) },
  });
}

/** Returns the mark of a request whose agent answers inquiries. */
export function inquiriesOf({ answersInquiries }: ReadSpec): Partial<typeof ANSWERS_INQUIRIES> {
  return answersInquiries ? ANSWERS_INQUIRIES : {};
}

/** Returns the hash by which a repeated request is recognized. It covers each secret by that secret's stored name. */
export function sameHashOf(
  ctx: Context,
  { echo, channel }: Pick<ReadSpec, "channel"> & { echo: object },
  more: object,
): string {
  const tokens = channel?.tokens.map((token) => secretName(ctx, "bot_token", token)) ?? [];
  return sha256Digest(canonicalExact({ ...more, spec: echo, tokens }));
}

/** The parts beside the spec that make a second request the same one. */
function runAndAgent({ runId, agentPrompt }: ReadCall | ReadContact): object {
  const { agent, subagent, folder } = agentPrompt ?? {};
  return { run_id: runId, ...(agent !== undefined && { agent_prompt: given({ agent, subagent, folder }) }) };
}

/** Returns whom a request asks and when (spec/a2h 8 and 11). */
export async function timed(
  ctx: Context,
  by: Asker,
  { channel, timeoutSeconds, keep, escalation }: ReadSpec,
  {
    decides,
    usualSeconds,
    prompt,
  }: { decides: RequestForm["kind"]; usualSeconds: number | null; prompt?: PromptAsked },
): Promise<
  Pick<RequestInput, "audience" | "conversation" | "inboxOnly" | "timeoutSeconds" | "remindAfterMs" | "rounds">
> {
  const seconds = timeoutSeconds ?? usualSeconds;
  const route = await routeOf(ctx, by, channel, decides);
  const rounds: EscalationRound[] = [];
  const fixed = prompt?.request.promptOf !== undefined || isNamedBy(channel?.echo, route.audience);
  for (const { afterSeconds, channel: own, words } of escalation) {
    const more = await audienceOf(ctx, by, { ...own, isEscalation: true }, decides);
    const { added, informed } = await escalationOf(ctx, { asked: route.audience, more, fixed });
    const round = { afterMs: afterSeconds * 1000, words };
    if (added) rounds.push({ ...round, audience: added, informs: false });
    if (informed) rounds.push({ ...round, audience: informed, informs: true });
  }
  return {
    ...route,
    rounds,
    timeoutSeconds: keep ? null : seconds,
    // One that is kept has no deadline, and reminds when its time is over.
    ...(keep && { remindAfterMs: seconds === null ? null : seconds * 1000 }),
  };
}
