import type { Context } from "../../context.ts";
import { canonicalExact, sha256Digest } from "../../lib/exact-json.ts";
import type { AddressedAsk, AddressedForm, Audience, ForeignSchema } from "../../model/addressed-ask.ts";
import { reminderSeconds } from "../../model/addressed-rules.ts";
import { consentText } from "../../model/consent.ts";
import { refuseFields } from "../../model/field-problem.ts";
import { titleOf } from "../../model/title.ts";
import { Refusal } from "../../refusals.ts";
import { addressAsk } from "../../verbs/address-ask.ts";
import { readHuman, readHumans, searchHumans, type Human } from "../../verbs/enroll-human.ts";
import { joinRequest } from "../../verbs/join-request.ts";
import { readByRef } from "../../verbs/read-addressed.ts";
import { requestCall } from "../../verbs/request-call.ts";
import { checkFields } from "../door-fields.ts";
import type { DoorContext } from "../door.ts";
import type { Exchange } from "./exchange.ts";
import { clientOf, exactArgument, type Call, type Json } from "./message.ts";
import { AN_HOUR_S, Approval, Contact, optionsOf, People, Permission, usualTimeout } from "./people-fields.ts";
import { chargeRead } from "./responses.ts";
import type { Members } from "./rpc.ts";
import { toolResult } from "./tool-result.ts";

const DOOR = "mcp";

/** A request to people, whoever asked for it: the same one asked again finds the first. */
export interface Asked {
  ask: AddressedAsk;
  maxWaitSeconds: number | undefined;
}

interface Wish {
  form: AddressedForm;
  title: string;
  words: string;
  to: string | undefined;
  timeoutSeconds: number;
  /** Everything that was asked, defaults filled in. */
  meant: object;
  /** What the asker calls it; without one it is the same while nobody has been told how it ended. */
  key: string | undefined;
}

/**
 * Asks one person for an answer: the one named, else whoever the key or the settings say.
 *
 * @throws {Refusal} `invalid_input`, `schema_refused`, `human_unknown`, `idempotency_mismatch`, `rate_limited`,
 *   `quota_exceeded`
 */
export async function contactHuman(exchange: Exchange, given: object): Promise<Asked> {
  const { call, door } = exchange;
  const { schemas } = door.ctx;
  const { idempotency_key: key, max_wait_seconds: maxWaitSeconds, ...rest } = checked(Contact, given);
  const { message, to, subject, options = [] } = rest;
  // As it came: what is null in a schema means something.
  const schema = rest.response_schema && (argumentsOf(call)["response_schema"] as ForeignSchema);
  if (schema && options.length > 0) {
    const message = "options and response_schema exclude each other";
    throw refuseFields([{ message, field: "options", constraint: "excluded" }]);
  }
  const problem = schema && schemas.examine(schema);
  if (problem) {
    throw new Refusal("schema_refused", { field: "response_schema", ...problem }, `response_schema ${problem.message}`);
  }
  const timeoutSeconds = rest.timeout_seconds ?? usualTimeout.contact;
  const ask = await store(exchange, {
    form: schema ? { kind: "value", schema } : { kind: "reply", options: optionsOf(options) },
    title: titleOf(subject?.trim() || message),
    words: message,
    to,
    timeoutSeconds,
    meant: { ...rest, options, timeout_seconds: timeoutSeconds, ...(schema && { response_schema: schema }) },
    key: key === undefined ? undefined : `key ${key}`,
  });
  return { ask, maxWaitSeconds };
}

/**
 * Asks whether a call may run with exactly these arguments.
 *
 * @throws {Refusal} `invalid_input`, `human_unknown`, `idempotency_mismatch`, `rate_limited`, `quota_exceeded`
 */
export async function requestApproval(exchange: Exchange, given: object): Promise<Asked> {
  const { idempotency_key: key, max_wait_seconds: maxWaitSeconds, ...rest } = checked(Approval, given);
  const { fn, reason = "", to, reject_options = [] } = rest;
  const kwargs = exactArgument(exchange.call, "kwargs");
  const timeoutSeconds = rest.timeout_seconds ?? usualTimeout.approval;
  const ask = await store(exchange, {
    form: approvalForm(fn, kwargs, reject_options),
    title: fn,
    words: reason,
    to,
    timeoutSeconds,
    meant: { ...rest, kwargs, reason, reject_options, timeout_seconds: timeoutSeconds },
    key: key === undefined ? undefined : `key ${key}`,
  });
  return { ask, maxWaitSeconds };
}

/**
 * Asks whether a client's tool may run, for its permission prompt. The same use of a tool with the same input is the
 * same request, also after its outcome was told.
 *
 * @throws {Refusal} `invalid_input`, `rate_limited`, `quota_exceeded`
 */
export async function askPermission(exchange: Exchange, given: object): Promise<Asked> {
  const { tool_name: fn, tool_use_id: use } = checked(Permission, given);
  const form = approvalForm(fn, exactArgument(exchange.call, "input"), []);
  const ask = await store(exchange, {
    ...{ form, title: fn, words: "", to: undefined, timeoutSeconds: AN_HOUR_S },
    meant: { tool_name: fn, input: form.kwargs },
    key: use === undefined ? undefined : `use ${use} ${sha256Digest(consentText(fn, form.kwargs))}`,
  });
  return { ask, maxWaitSeconds: undefined };
}

function argumentsOf({ params }: Call): Json {
  return params["arguments"] as Json;
}

function approvalForm(
  fn: string,
  kwargs: unknown,
  rejectOptions: Parameters<typeof optionsOf>[0],
): AddressedForm & { kind: "approval" } {
  const text = canonicalExact(kwargs);
  return { kind: "approval", fn, kwargs: text, rejectOptions: optionsOf(rejectOptions), editable: false };
}

async function store(exchange: Exchange, wish: Wish): Promise<AddressedAsk> {
  const { call, door, principal: asker } = exchange;
  const { ctx } = door;
  const { form, title, words, to, timeoutSeconds } = wish;
  const audience = to === undefined ? await exchange.usualAudience(form.kind) : await audienceOfHuman(ctx, to);
  const sameHash = sha256Digest(canonicalExact({ kind: form.kind, ...wish.meant }));
  const key = wish.key ?? `same ${sameHash}`;
  const callId = await joinRequest(ctx, { asker, key, bodyHash: sameHash, timeoutSeconds });
  const client = clientOf(call);
  const remindAfterS = reminderSeconds(timeoutSeconds);
  const asked = {
    ...{ door: DOOR, asker, ref: refOf(callId), title, words, audience, timeoutSeconds, sameHash },
    remindAfterMs: remindAfterS === null ? null : Math.round(remindAfterS * 1000),
    wire: { ...(client && { client }), ...(wish.key === undefined && { spent_by: key }) },
  };
  if (form.kind !== "approval") return (await addressAsk(ctx, { ...asked, form, digest: null })).ask;
  const digest = sha256Digest(consentText(form.fn, form.kwargs));
  return (await requestCall(ctx, door.policy.current().policy, { ...asked, form, digest })).ask;
}

const refOf = (callId: string): string => `${DOOR}:${callId}`;

/** Returns the handle under which the asker knows a request. */
export function callIdOf({ ref }: AddressedAsk): string {
  return ref.slice(DOOR.length + 1);
}

/** True for the handle of a request to people; any other is of a question to the crowd. */
export function isCallId(handle: string): boolean {
  return handle.startsWith("call_");
}

/** Returns the asker's own request. @throws {Refusal} `ask_not_found` also for somebody else's */
export async function readRequest(ctx: Context, asker: string, callId: string): Promise<AddressedAsk> {
  try {
    if (/^call_\w{1,60}$/.test(callId)) return await readByRef(ctx, asker, refOf(callId));
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "request_not_found") throw error;
  }
  throw new Refusal("ask_not_found", { question_id: callId });
}

async function audienceOfHuman(ctx: Context, to: string): Promise<Audience> {
  const { person } = await humanCalled(ctx, to);
  return { is: "leaf", target: { via: "person", person } };
}

const SAME_NAME_MOST = 1000;

async function humanCalled(ctx: Context, to: string): Promise<Human> {
  if (/^[1-9]\d{0,14}$/.test(to)) {
    const human = await readHuman(ctx, Number(to)).catch(unlessFound);
    if (human) return human;
  }
  const [human, ...others] = (await searchHumans(ctx, to, SAME_NAME_MOST)).filter(({ name }) => name === to);
  if (!human) {
    throw new Refusal(
      "human_unknown",
      { field: "to" },
      "No human has this id or name; list_humans shows who can be asked.",
    );
  }
  if (others.length > 0) {
    throw new Refusal("human_unknown", { field: "to" }, "Several humans have this name; give the id from list_humans.");
  }
  return human;
}

function unlessFound(error: unknown): null {
  if (error instanceof Refusal && error.code === "human_not_found") return null;
  throw error;
}

/** Returns who can be asked, without any contact detail. It counts as one read. @throws {Refusal} */
export async function listPeople(door: DoorContext, asker: string, given: object): Promise<Members> {
  const { query, limit = 50, cursor } = checked(People, given);
  await chargeRead(door, asker);
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) {
    throw refuseFields([{ message: "cursor is not a page's next_cursor", field: "cursor", constraint: "format" }]);
  }
  const isSearch = query !== undefined && query.trim() !== "";
  const { humans, next } = isSearch
    ? { humans: await searchHumans(door.ctx, query, limit), next: null }
    : await readHumans(door.ctx, { after: Number(cursor ?? 0), limit });
  const shown = humans.map(({ number, name, description }) => ({
    id: String(number),
    name,
    description: description ?? "",
  }));
  return toolResult(JSON.stringify({ humans: shown, next_cursor: next === null ? null : String(next) }));
}

function checked<T>(schema: Parameters<typeof checkFields<T>>[0], given: object): T {
  const found = checkFields(schema, given);
  if ("error" in found) throw found.error;
  return found.value;
}
