import type { JsonObject } from "../../lib/json-body.ts";
import { ASK_TYPES, type AskType } from "../../core/model/ask-type.ts";
import type { FieldProblem } from "../../core/model/field-problem.ts";
import { lengthOf, refuseFields } from "../../core/model/field-problem.ts";
import { type AskConstraints, type ContextEnvelope } from "../../asks/model/ask.ts";
import { readOptions } from "../../asks/model/choice-options.ts";
import { canonicalExact } from "../../lib/exact-json.ts";

/** Ids of jobs, steps and asks (spec/relay 2). */
export const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const ROLE = /^[a-z0-9._-]+(@v\d+)?$/;
const MOST_PROMPT = 16_000;
const MOST_JSON_BYTES = 65_536;
const MOST_META = 200;

/** A request's fields as far as they have their shape; what is wrong is collected on the way, in the order of the table. */
export interface AskFields {
  id: string | undefined;
  jobId: string;
  stepId: string;
  type: AskType;
  prompt: string;
  contextHash: string | undefined;
  envelope: ContextEnvelope | null;
  constraints: AskConstraints;
  roleId: string | null;
  meta: JsonObject;
}

/** Reads the fields of a new ask, which may be for one of these groups. @throws {Refusal} `invalid_input`, with every problem in the order of the fields */
export function readAskFields(body: JsonObject, groups: Iterable<string>): AskFields {
  const problems: FieldProblem[] = [];
  const say = (field: string, constraint: string, facts: JsonObject = {}): void =>
    void problems.push({ message: "Request body is not valid", field, constraint, ...facts });

  if (given(body["type"]) && body["type"] !== "Ask") say("type", "enum", { allowed: ["Ask"] });
  const id = given(body["ask_id"]) ? readId(body, "ask_id", say) : undefined;
  const jobId = readId(body, "job_id", say);
  const stepId = readId(body, "step_id", say);
  const type = readType(body["ask_type"], say);
  const prompt = readPrompt(body["prompt"], say);
  const envelope = readEnvelope(body["context_envelope"], say);
  const contextHash = readHash(body["context_hash"], envelope !== null, say);
  const constraints = readConstraints(body["constraints"], say);
  const roleId = readRole(body["role_id"], say);
  const meta = readMeta(body["meta"], { type, audiences: ["team", "public", ...groups] }, say);
  if (problems.length > 0) throw refuseFields(problems);
  return { id, jobId, stepId, type, prompt, contextHash, envelope, constraints, roleId, meta };
}

type Say = (field: string, constraint: string, facts?: JsonObject) => void;

function fallback<T>(say: Say, field: string, instead: T): T {
  say(field, "type");
  return instead;
}

const given = (value: unknown): boolean => value !== undefined && value !== null;
const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.getPrototypeOf(value) === Object.prototype;

/** Returns whether every store and every channel can take a text as it is. */
export function isText(value: string): boolean {
  return !value.includes("\0") && value.isWellFormed();
}

/** Reads an id. */
export function readId(body: JsonObject, field: string, say: Say): string {
  const value = body[field];
  if (!given(value)) say(field, "required");
  else if (typeof value !== "string") say(field, "type");
  else if (!ID.test(value)) say(field, "format", { pattern: ID.source });
  return typeof value === "string" ? value : "";
}

function readType(value: unknown, say: Say): AskType {
  if (!given(value)) say("ask_type", "required");
  else if (!ASK_TYPES.includes(value as AskType)) say("ask_type", "enum", { allowed: ASK_TYPES });
  return value as AskType;
}

function readPrompt(value: unknown, say: Say): string {
  if (!given(value)) say("prompt", "required");
  else if (typeof value !== "string") say("prompt", "type");
  else if (!isText(value)) say("prompt", "characters");
  else if (lengthOf(value.trim()) < 1 || lengthOf(value.trim()) > MOST_PROMPT) {
    say("prompt", "length", { min: 1, max: MOST_PROMPT });
  }
  return typeof value === "string" ? value.trim() : "";
}

function readHash(value: unknown, hasEnvelope: boolean, say: Say): string | undefined {
  if (!given(value)) {
    if (!hasEnvelope) say("context_hash", "required");
    return undefined;
  }
  if (typeof value !== "string") say("context_hash", "type");
  else if (!isText(value)) say("context_hash", "characters");
  else if (lengthOf(value) < 1 || lengthOf(value) > 256) say("context_hash", "length", { min: 1, max: 256 });
  return value as string;
}

function readEnvelope(value: unknown, say: Say): ContextEnvelope | null {
  if (!given(value)) return null;
  if (!isObject(value)) return fallback(say, "context_envelope", null);
  if (!isObject(value["job_snapshot"]))
    say("context_envelope.job_snapshot", given(value["job_snapshot"]) ? "type" : "required");
  if (typeof value["role"] !== "string") say("context_envelope.role", given(value["role"]) ? "type" : "required");
  for (const name of ["facts", "tool_caps"] as const) {
    if (given(value[name]) && !isObject(value[name])) say(`context_envelope.${name}`, "type");
  }
  if (isObject(value["tool_caps"])) {
    for (const [tool, caps] of Object.entries(value["tool_caps"])) {
      if (!isObject(caps)) say(`context_envelope.tool_caps.${tool}`, "type");
    }
  }
  checkSize(value, "context_envelope", say);
  return withoutAbsent(value) as unknown as ContextEnvelope;
}

/** Absent values are dropped before hashing (spec/relay 3). */
function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, withoutAbsent(member)]])),
  );
}

function readConstraints(value: unknown, say: Say): AskConstraints {
  if (!given(value)) return {};
  if (!isObject(value)) return fallback(say, "constraints", {});
  const { timeout_s: timeoutS, max_tokens: maxTokens, allowed_tools: allowedTools } = value;
  if (given(timeoutS)) {
    if (typeof timeoutS !== "number") say("constraints.timeout_s", "type");
    else if (timeoutS < 1 || timeoutS > 604_800) say("constraints.timeout_s", "range", { min: 1, max: 604_800 });
  }
  if (given(maxTokens)) {
    if (!Number.isInteger(maxTokens)) say("constraints.max_tokens", "type");
    else if ((maxTokens as number) < 1 || (maxTokens as number) > 8192) {
      say("constraints.max_tokens", "range", { min: 1, max: 8192 });
    }
  }
  if (given(allowedTools)) {
    const isList =
      Array.isArray(allowedTools) &&
      allowedTools.every((tool) => typeof tool === "string" && tool !== "" && isText(tool));
    if (!isList) say("constraints.allowed_tools", "type");
    else if (allowedTools.length > 32) say("constraints.allowed_tools", "length", { min: 0, max: 32 });
  }
  return {
    ...(given(timeoutS) && { timeoutS: timeoutS as number }),
    ...(given(maxTokens) && { maxTokens: maxTokens as number }),
    ...(given(allowedTools) && { allowedTools: allowedTools as string[] }),
  };
}

function readRole(value: unknown, say: Say): string | null {
  if (!given(value)) return null;
  if (typeof value !== "string") say("role_id", "type");
  else if (value.length > 128 || !ROLE.test(value)) say("role_id", "format", { pattern: ROLE.source });
  return value as string;
}

function readMeta(value: unknown, by: { type: AskType; audiences: readonly string[] }, say: Say): JsonObject {
  const { type, audiences } = by;
  if (!given(value)) return {};
  if (!isObject(value)) return fallback(say, "meta", {});
  const keys = Object.keys(value).length;
  if (keys > MOST_META) say("meta", "length", { min: 0, max: MOST_META });
  for (const name of ["action", "resource", "env", "in_reply_to", "to", "traceparent", "reason"]) {
    const text = value[name];
    if (!given(text)) continue;
    if (typeof text !== "string") say(`meta.${name}`, "type");
    else if (!isText(text)) say(`meta.${name}`, "characters");
  }
  if (given(value["audience"]) && !audiences.some((one) => one === value["audience"])) {
    say("meta.audience", "enum", { allowed: audiences });
  }
  if (given(value["options"]) && type === "CHOICE" && !readOptions(value["options"])) {
    say("meta.options", "length", { min: 2, max: 20 });
  }
  const { prompt_overrides: overrides } = value;
  if (given(overrides)) {
    if (!isObject(overrides)) say("meta.prompt_overrides", "type");
    else if (given(overrides["system_append"]) && typeof overrides["system_append"] !== "string") {
      say("meta.prompt_overrides.system_append", "type");
    }
  }
  for (const [name, member] of Object.entries(value)) checkSize(member, `meta.${name}`, say);
  return Object.fromEntries(Object.entries(value).filter(([, member]) => given(member)));
}

function checkSize(value: unknown, field: string, say: Say): void {
  if (typeof value !== "object" || value === null) return;
  if (Buffer.byteLength(canonicalExact(value)) > MOST_JSON_BYTES) say(field, "size", { max_bytes: MOST_JSON_BYTES });
}
