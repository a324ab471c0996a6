import { readSchema } from "../../lib/json/schema-rules.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import type { AgentCallbacks } from "./agent.ts";
import { isObject, objectOf, readObject, shown, textOf } from "./json-lines.ts";

/** An answer in the form that MCP, Codex and ACP share. */
export interface ElicitationAnswer {
  action: "accept" | "decline" | "cancel";
  /** The value that fits the form; null for every other answer. */
  content: JsonObject | null;
}

/** A request of an MCP server, or of the agent itself, for what people know. */
export interface Elicitation {
  /** The name under which a mere consent is asked for. */
  tool: string;
  /** Members that people see beside a consent. */
  source: JsonObject;
  /** As on the wire: `mode`, `message`, `requestedSchema`, `url`. */
  params: JsonObject;
}

/**
 * Asks people once, for the whole form. A form without fields wants a consent, and so does an address to visit: people
 * see the address and go there by themselves, because nothing here opens it. A consent is a permission, which no model
 * answers. A form with a field for a secret is declined, because its answer would be stored.
 */
export async function answerElicitation(
  callbacks: Pick<AgentCallbacks, "permission" | "question">,
  { tool, source, params }: Elicitation,
  withdrawn: AbortSignal,
): Promise<ElicitationAnswer> {
  const message = textOf(params["message"]) ?? "";
  const url = textOf(params["url"]);
  if (params["mode"] === "url" && url !== undefined) {
    const input = { message, ...source, url };
    return consent(callbacks, { tool, input, action: "tool", resource: url }, withdrawn);
  }
  if (params["mode"] !== "form") return DECLINED;
  const schema = formOf(objectOf(params["requestedSchema"]));
  if (Object.keys(objectOf(schema["properties"])).length === 0) {
    return consent(callbacks, { tool, input: { message, ...source }, action: "tool", resource: tool }, withdrawn);
  }
  if ("problem" in readSchema(schema) || asksForSecret(schema)) return DECLINED;
  const given = await callbacks.question({ text: shown(message), options: [], schema }, withdrawn);
  if (withdrawn.aborted) return CANCELED;
  const content = "none" in given ? null : readObject(given.text);
  return content ? { action: "accept", content } : DECLINED;
}

const DECLINED: ElicitationAnswer = { action: "decline", content: null };
const CANCELED: ElicitationAnswer = { action: "cancel", content: null };

async function consent(
  callbacks: Pick<AgentCallbacks, "permission">,
  permission: Parameters<AgentCallbacks["permission"]>[0],
  withdrawn: AbortSignal,
): Promise<ElicitationAnswer> {
  const decision = await callbacks.permission(permission, withdrawn);
  if (decision.allow) return { action: "accept", content: {} };
  return decision.canceled ? CANCELED : DECLINED;
}

function asksForSecret({ properties }: JsonObject): boolean {
  const fields = Object.values(objectOf(properties)).map(objectOf);
  return fields.some(({ format, writeOnly }) => format === "password" || writeOnly === true);
}

/**
 * Returns the schema as people get it: without members that are null, and with the names of values as their titles. A
 * list of some of these values holds none twice, so that each is ticked or left.
 */
function formOf(schema: JsonObject): JsonObject {
  const { $schema: _, properties, ...rest } = withoutNulls(schema);
  const fields = Object.entries(objectOf(properties)).map(([name, field]) => [name, fieldOf(objectOf(field))]);
  return { ...rest, properties: Object.fromEntries(fields) as JsonObject };
}

function fieldOf(given: JsonObject): JsonObject {
  const { items, ...field } = withoutNulls(given);
  if (!isObject(items)) return namedValues(withoutNulls(given));
  const item = namedValues(withoutNulls(items));
  return { ...field, ...(isChoice(item) && { uniqueItems: true }), items: item };
}

function isChoice({ enum: values, oneOf, anyOf }: JsonObject): boolean {
  const named = oneOf ?? anyOf;
  const isNamed = Array.isArray(named) && named.every((one) => isObject(one) && Object.hasOwn(one, "const"));
  return Array.isArray(values) || isNamed;
}

function namedValues({ enumNames: names, enum: values, ...field }: JsonObject): JsonObject {
  if (!Array.isArray(values)) return field;
  if (!Array.isArray(names) || names.length !== values.length) return { ...field, enum: values };
  return { ...field, oneOf: values.map((value: unknown, i) => ({ const: value, title: String(names[i]) })) };
}

function withoutNulls(members: JsonObject): JsonObject {
  return isObject(members) ? Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) : {};
}
