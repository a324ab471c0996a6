import type { JsonObject } from "../../lib/json/json-body.ts";
import type { Context } from "../../context.ts";
import { CanonicalJson, canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { ANSWERS_INQUIRIES } from "../../requests/model/inquiry.ts";
import type { Request, RequestForm, Audience, ForeignSchema, ResponseOption } from "../../requests/model/request.ts";
import { bindCall, type BoundCall } from "../../requests/model/bound-call.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import { titleOf } from "../../core/model/title.ts";
import { Refusal } from "../../refusals.ts";
import { createRequest } from "../../requests/create/create-request.ts";
import { readHumans, searchHumans } from "../../access/enroll-human.ts";
import { resolveRecipient, listGroups } from "../../access/resolve-recipient.ts";
import { audienceOfRecipient } from "../../requests/create/audience-of-recipient.ts";
import { claimDedupeKey } from "../../requests/create/dedupe-key.ts";
import { readPlan } from "../../requests/plans/read-plan.ts";
import { readByRef } from "../../requests/read/read-request.ts";
import { requestCall } from "../../requests/create/request-call.ts";
import { checkFields } from "../http/check-fields.ts";
import { TOOL_DOOR, TOOL_RUN, toolRefOf } from "../http/tool-request.ts";
import type { DoorContext } from "../http/door.ts";
import type { Exchange } from "./exchange.ts";
import { clientOf, exactArgument, type McpRequest } from "./message.ts";
import { AN_HOUR_S, Approval, Contact, optionsOf, People, Permission, usualTimeout } from "./people-fields.ts";
import { chargeRead } from "./responses.ts";
import type { JsonMembers } from "./rpc.ts";
import { declaresTasks } from "./task-shape.ts";
import { toolResult } from "./tool-result.ts";
import { MOST_WHOLE, wholeNumber } from "../http/query.ts";

/** A request to people, whoever asked for it: the same one asked again finds the first. */
export interface OpenedRequest {
  request: Request;
  maxWaitSeconds: number | undefined;
}

interface NewPeopleRequest {
  /** A call that waits for an approval, or the form of another answer. */
  asks: { bound: BoundCall; rejectOptions: readonly ResponseOption[] } | Exclude<RequestForm, { kind: "approval" }>;
  title: string;
  /** A title that the agent gave, which goes before the first of its words. */
  subject?: string | undefined;
  words: string;
  to: string | undefined;
  timeoutSeconds: number;
  /** Everything that was asked, defaults filled in. */
  normalized: object;
  /** The asker's idempotency key. Without it, an equal request is the same one until its result has been delivered. */
  key: string | undefined;
  /** Set for a client's permission prompt, with its id of the use. */
  prompt?: { use: string };
}

/**
 * Asks for an answer: the person named, or whoever of the group named is first, else whoever the key or the settings say.
 *
 * @throws {Refusal} `invalid_input`, `schema_refused`, `human_unknown`, `idempotency_mismatch`, `rate_limited`,
 *   `quota_exceeded`
 */
export async function contactHuman(exchange: Exchange, given: object): Promise<OpenedRequest> {
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
  const request = await store(exchange, {
    asks: schema ? { kind: "value", schema } : { kind: "reply", options: optionsOf(options) },
    title: titleOf(message),
    subject,
    words: message,
    to,
    timeoutSeconds,
    normalized: { ...rest, options, timeout_seconds: timeoutSeconds, ...(schema && { response_schema: schema }) },
    key: key === undefined ? undefined : `key ${key}`,
  });
  return { request, maxWaitSeconds };
}

/**
 * Asks whether a call may run with exactly these arguments.
 *
 * @throws {Refusal} `invalid_input`, `human_unknown`, `idempotency_mismatch`, `rate_limited`, `quota_exceeded`
 */
export async function requestOneCall(exchange: Exchange, given: object): Promise<OpenedRequest> {
  const { idempotency_key: key, max_wait_seconds: maxWaitSeconds, ...rest } = checked(Approval, given);
  const { fn, reason = "", to, reject_options = [] } = rest;
  const { call } = exchange;
  const kwargs = exactArgument(call, "kwargs") as JsonObject;
  await yieldAfterLarge(call.bytes);
  const bound = bindCall(fn, kwargs);
  await yieldAfterLarge(call.bytes);
  const timeoutSeconds = rest.timeout_seconds ?? usualTimeout.approval;
  const request = await store(exchange, {
    asks: { bound, rejectOptions: optionsOf(reject_options) },
    title: fn,
    words: reason,
    to,
    timeoutSeconds,
    normalized: {
      ...rest,
      kwargs: new CanonicalJson(bound.canonical),
      reason,
      reject_options,
      timeout_seconds: timeoutSeconds,
    },
    key: key === undefined ? undefined : `key ${key}`,
  });
  return { request, maxWaitSeconds };
}

/** A prompt is withdrawn so long after nobody waits for it any more, and its client may wait again until then. */
const LEASE_MS = 90_000;
/** A decision whose reply was lost may be fetched again for so long. */
const FETCHABLE_MS = 60_000;

/**
 * Asks whether a client's tool may run, for its permission prompt. The same use of a tool with the same input is the
 * same request while that waits, and its decision is good for one reply (spec/mcp 4.4).
 *
 * @throws {Refusal} `invalid_input`, `rate_limited`, `quota_exceeded`
 */
export async function askPermission(exchange: Exchange, given: object): Promise<OpenedRequest> {
  const { tool_name: fn, tool_use_id: use } = checked(Permission, given);
  const { call } = exchange;
  const input = exactArgument(call, "input") as JsonObject;
  await yieldAfterLarge(call.bytes);
  const bound = bindCall(fn, input);
  await yieldAfterLarge(call.bytes);
  const request = await store(exchange, {
    asks: { bound, rejectOptions: [] },
    title: fn,
    words: "",
    to: undefined,
    timeoutSeconds: AN_HOUR_S,
    normalized: { tool_name: fn, input: bound.canonical },
    key: undefined,
    prompt: { use: use ?? "" },
  });
  return { request, maxWaitSeconds: undefined };
}

function argumentsOf({ params }: McpRequest): JsonObject {
  return params["arguments"] as JsonObject;
}

async function store(exchange: Exchange, input: NewPeopleRequest): Promise<Request> {
  const { ctx, policy } = exchange.door;
  const { asks, title, prompt } = input;
  const { id, ...shared } = await identify(exchange, "bound" in asks ? "approval" : asks.kind, input);
  const asked = {
    ...shared,
    door: TOOL_DOOR,
    ref: toolRefOf(id),
    title,
    ...(prompt && { leaseMs: LEASE_MS }),
  };
  const { request } =
    "bound" in asks
      ? await requestCall(ctx, policy.current().policy, { ...asked, ...asks, editable: false })
      : await createRequest(ctx, { ...asked, subject: input.subject, form: asks, digest: null });
  return request;
}

/**
 * Returns whom a request asks and the id that it has: that of the same request made before, or a fresh one.
 *
 * @throws {Refusal} `human_unknown`, `idempotency_mismatch`
 */
export async function identify(
  { call, door, principal: asker, usualAudience }: Exchange,
  kind: RequestForm["kind"] | "plan",
  { words, to, timeoutSeconds, normalized, prompt, ...input }: Omit<NewPeopleRequest, "asks" | "title">,
) {
  const { ctx } = door;
  const isPlan = kind === "plan";
  const audience = to === undefined ? await usualAudience(isPlan ? "approval" : kind) : await audienceOfNamed(ctx, to);
  const sameHash = sha256Digest(canonicalExact({ kind, ...normalized }));
  const key = input.key ?? (prompt ? `use ${prompt.use} ${sameHash}` : `same ${sameHash}`);
  await yieldAfterLarge(call.bytes);
  const use = prompt && { refOf: toolRefOf, joinableMs: FETCHABLE_MS };
  const freshId = ctx.newId(isPlan ? "plan" : "call");
  const id = await claimDedupeKey(ctx, {
    asker,
    key,
    bodyHash: sameHash,
    timeoutSeconds,
    freshId,
    ...(use && { use }),
  });
  const client = clientOf(call);
  // A prompt is no model's, and a task has no result before its end.
  const answers = !prompt && !declaresTasks(call);
  const wire = {
    ...(client && { client }),
    ...(input.key === undefined && { spent_by: key }),
    ...(answers && ANSWERS_INQUIRIES),
  };
  return { id, asker, audience, words, timeoutSeconds, sameHash, wire };
}

/** True for the handle of a request to people; any other is of a question to the crowd. */
export function isCallId(handle: string): boolean {
  return handle.startsWith("call_") || handle.startsWith("plan_");
}

/** Returns the asker's own request, plan or call of a plan. @throws {Refusal} `question_not_found` also for somebody else's */
export async function readOwnRequest(ctx: Context, asker: string, callId: string): Promise<Request> {
  try {
    if (/^(?:call_\w{1,60}|plan_\w{1,60}\.\d{1,3})$/.test(callId))
      return await readByRef(ctx, asker, toolRefOf(callId));
    if (/^plan_\w{1,60}$/.test(callId)) {
      const plan = await readPlan(ctx, asker, callId);
      // A plan that was made by A2H is read and used there.
      if (plan.wire["run_id"] === TOOL_RUN) return plan;
    }
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "request_not_found") throw error;
  }
  throw new Refusal("question_not_found", { question_id: callId });
}

async function audienceOfNamed(ctx: Context, to: string): Promise<Audience> {
  const recipient = await resolveRecipient(ctx, to);
  if (recipient.kind === "human" || recipient.kind === "group") return audienceOfRecipient(recipient);
  const says =
    recipient.kind === "several"
      ? "Several humans have this name; give the id from list_humans."
      : "No human or group has this id or name; list_humans shows who can be asked.";
  throw new Refusal("human_unknown", { field: "to" }, says);
}

/** Returns who can be asked, without any contact detail, and on the first page the groups. It counts as one read. @throws {Refusal} */
export async function listPeople(door: DoorContext, asker: string, given: object): Promise<JsonMembers> {
  const { query, limit = 50, cursor } = checked(People, given);
  await chargeRead(door, asker);
  const after = cursor === undefined ? 0 : wholeNumber(cursor, { min: 0, max: MOST_WHOLE });
  if (after === null) {
    throw refuseFields([{ message: "cursor is not a page's next_cursor", field: "cursor", constraint: "format" }]);
  }
  const isSearch = query !== undefined && query.trim() !== "";
  const { humans, next } = isSearch
    ? await searchHumans(door.ctx, query, { after, limit })
    : await readHumans(door.ctx, { after, limit });
  const shown = humans.map(({ number, name, description }) => ({
    id: String(number),
    name,
    description: description ?? "",
  }));
  const groups = cursor === undefined && !isSearch ? await groupsOf(door.ctx) : [];
  const page = {
    humans: shown,
    ...(groups.length > 0 && { groups }),
    next_cursor: next === null ? null : String(next),
  };
  return toolResult(JSON.stringify(page));
}

/** Groups somebody can be asked of, each with the numbers of its people. */
async function groupsOf(ctx: Context): Promise<{ name: string; humans: string[] }[]> {
  const groups = (await listGroups(ctx)).filter(({ humans }) => humans.length > 0);
  return groups.map(({ name, humans }) => ({ name, humans: humans.map(({ number }) => String(number)) }));
}

export function checked<T>(schema: Parameters<typeof checkFields<T>>[0], given: object): T {
  const found = checkFields(schema, given);
  if ("error" in found) throw found.error;
  return found.value;
}
