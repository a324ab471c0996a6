/** New asks of executors, and the answers that are posted to them (spec/relay 3 to 5). */
import { z } from "zod";
import type { AskConstraints, ContextEnvelope } from "../../asks/model/ask.ts";
import { ASK_STATUSES } from "../../asks/model/ask.ts";
import { readOptions } from "../../asks/model/choice-options.ts";
import { MOST_ANSWER_CHARS } from "../../asks/model/people.ts";
import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { lengthOf, type FieldProblem } from "../../core/model/field-problem.ts";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { checkedField, fields } from "../fields.ts";
import { RELAY_ID } from "./fields.ts";

const ROLE = /^[a-z0-9._-]+(@v\d+)?$/;
const MOST_PROMPT = 16_000;
const MOST_JSON_BYTES = 65_536;
const MOST_META = 200;
const META_TEXTS = ["action", "resource", "env", "in_reply_to", "to", "traceparent", "reason"] as const;
const ANSWER_STATUSES = ASK_STATUSES.filter((status) => status !== "PENDING");

type Json = Readonly<Record<string, unknown>>;
type Problems = readonly FieldProblem[];

/** Null counts as absent. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.getPrototypeOf(value) === Object.prototype;

/** Returns whether every store and every channel can take a text as it is. */
const isText = (value: string): boolean => !value.includes("\0") && value.isWellFormed();

const wrong = (field: string, constraint: string, facts: Json = {}): Problems => [
  { message: "Request body is not valid", field, constraint, ...facts },
];

/** A field that has to be there. */
function needed<T>(name: string, json: Json, check: (value: unknown) => Problems): z.ZodType<T, T> {
  return checkedField<T>(json, (value) => (isGiven(value) ? check(value) : wrong(name, "required")));
}

/** A field that may be left out. */
function free<T>(json: Json, check: (value: unknown) => Problems): z.ZodOptional<z.ZodType<T, T>> {
  return checkedField<T>(json, (value) => (isGiven(value) ? check(value) : [])).optional();
}

const idProblems = (name: string) => (value: unknown) => {
  if (typeof value !== "string") return wrong(name, "type");
  return RELAY_ID.test(value) ? [] : wrong(name, "format", { pattern: RELAY_ID.source });
};

const textProblems =
  (name: string, size?: { min: number; max: number }, lengthOfIt: (text: string) => number = lengthOf) =>
  (value: unknown) => {
    if (typeof value !== "string") return wrong(name, "type");
    if (!isText(value)) return wrong(name, "characters");
    const length = lengthOfIt(value);
    return size && (length < size.min || length > size.max) ? wrong(name, "length", size) : [];
  };

const wordProblems = (name: string, words: readonly unknown[]) => (value: unknown) =>
  words.includes(value) ? [] : wrong(name, "enum", { allowed: words });

const sizeProblems = (name: string, value: unknown): Problems => {
  if (typeof value !== "object" || value === null) return [];
  return Buffer.byteLength(canonicalExact(value)) > MOST_JSON_BYTES
    ? wrong(name, "size", { max_bytes: MOST_JSON_BYTES })
    : [];
};

const text = { type: "string" } as const;
const id = { ...text, pattern: RELAY_ID.source };
const members = { type: "object", additionalProperties: true } as const;

const idField = (name: string) => needed<string>(name, id, idProblems(name));
const wordOf = <const Word extends string>(word: Word) =>
  free<Word>({ ...text, const: word }, wordProblems("type", [word]));

/** An ask, whose `meta.audience` may be one of these groups. */
export function newAskBody(groups: Iterable<string>) {
  const audiences = ["team", "public", ...groups];
  return fields({
    type: wordOf("Ask"),
    ask_id: free<string>(id, idProblems("ask_id")),
    job_id: idField("job_id"),
    step_id: idField("step_id"),
    ask_type: needed<(typeof ASK_TYPES)[number]>(
      "ask_type",
      { ...text, enum: ASK_TYPES },
      wordProblems("ask_type", ASK_TYPES),
    ),
    prompt: needed<string>(
      "prompt",
      { ...text, minLength: 1, maxLength: MOST_PROMPT },
      textProblems("prompt", { min: 1, max: MOST_PROMPT }, (given) => lengthOf(given.trim())),
    ),
    context_envelope: free<ContextEnvelope>(members, envelopeProblems),
    context_hash: free<string>(text, textProblems("context_hash", { min: 1, max: 256 })),
    constraints: free<GivenConstraints>(CONSTRAINTS, constraintsProblems),
    role_id: free<string>(text, (value) => {
      if (typeof value !== "string") return wrong("role_id", "type");
      return value.length > 128 || !ROLE.test(value) ? wrong("role_id", "format", { pattern: ROLE.source }) : [];
    }),
    meta: free<Json>(members, (value) => metaProblems(value, audiences)),
  }).superRefine(({ ask_type: type, context_envelope: envelope, context_hash: hash, meta }, context) => {
    const problems = [
      ...(isObject(envelope) || isGiven(hash) ? [] : wrong("context_hash", "required")),
      ...(type === "CHOICE" && isGiven(meta?.["options"]) && !readOptions(meta?.["options"])
        ? wrong("meta.options", "length", { min: 2, max: 20 })
        : []),
    ];
    for (const problem of problems) context.addIssue({ code: "custom", message: problem.message, params: { problem } });
  });
}
export type NewAskBody = z.output<ReturnType<typeof newAskBody>>;

function envelopeProblems(value: unknown): Problems {
  const at = "context_envelope";
  if (!isObject(value)) return wrong(at, "type");
  const { job_snapshot: snapshot, role, tool_caps: caps } = value;
  return [
    ...(isObject(snapshot) ? [] : wrong(`${at}.job_snapshot`, isGiven(snapshot) ? "type" : "required")),
    ...(typeof role === "string" ? [] : wrong(`${at}.role`, isGiven(role) ? "type" : "required")),
    ...["facts", "tool_caps"].flatMap((name) =>
      isGiven(value[name]) && !isObject(value[name]) ? wrong(`${at}.${name}`, "type") : [],
    ),
    ...Object.entries(isObject(caps) ? caps : {}).flatMap(([tool, own]) =>
      isObject(own) ? [] : wrong(`${at}.tool_caps.${tool}`, "type"),
    ),
    ...sizeProblems(at, value),
  ];
}

interface GivenConstraints {
  timeout_s?: number | null;
  max_tokens?: number | null;
  allowed_tools?: string[] | null;
}

const LONGEST_TIMEOUT_S = 604_800;
const MOST_TOKENS = 8192;
const MOST_TOOLS = 32;
const CONSTRAINTS = {
  type: "object",
  properties: {
    timeout_s: { type: "number", minimum: 1, maximum: LONGEST_TIMEOUT_S },
    max_tokens: { type: "integer", minimum: 1, maximum: MOST_TOKENS },
    allowed_tools: { type: "array", items: text, maxItems: MOST_TOOLS },
  },
  additionalProperties: true,
} as const;

function constraintsProblems(value: unknown): Problems {
  if (!isObject(value)) return wrong("constraints", "type");
  const { timeout_s: timeoutS, max_tokens: maxTokens, allowed_tools: tools } = value;
  const within = (name: string, number: unknown, isRight: boolean, max: number): Problems => {
    if (!isGiven(number)) return [];
    if (!isRight) return wrong(`constraints.${name}`, "type");
    const isWithin = (number as number) >= 1 && (number as number) <= max;
    return isWithin ? [] : wrong(`constraints.${name}`, "range", { min: 1, max });
  };
  return [
    ...within("timeout_s", timeoutS, typeof timeoutS === "number", LONGEST_TIMEOUT_S),
    ...within("max_tokens", maxTokens, Number.isInteger(maxTokens), MOST_TOKENS),
    ...(isGiven(tools) ? toolsProblems(tools) : []),
  ];
}

function toolsProblems(tools: unknown): Problems {
  const at = "constraints.allowed_tools";
  const areNames =
    Array.isArray(tools) && tools.every((tool) => typeof tool === "string" && tool !== "" && isText(tool));
  if (!areNames) return wrong(at, "type");
  return tools.length > MOST_TOOLS ? wrong(at, "length", { min: 0, max: MOST_TOOLS }) : [];
}

/** Returns constraints as the rest of the server has them. */
export function constraintsOf(given: GivenConstraints | undefined): AskConstraints {
  const { timeout_s: timeoutS, max_tokens: maxTokens, allowed_tools: allowedTools } = given ?? {};
  return {
    ...(typeof timeoutS === "number" && { timeoutS }),
    ...(typeof maxTokens === "number" && { maxTokens }),
    ...(allowedTools && { allowedTools }),
  };
}

function metaProblems(value: unknown, audiences: readonly string[]): Problems {
  if (!isObject(value)) return wrong("meta", "type");
  const { audience, prompt_overrides: overrides } = value;
  const many = Object.keys(value).length > MOST_META ? wrong("meta", "length", { min: 0, max: MOST_META }) : [];
  return [
    ...many,
    ...META_TEXTS.flatMap((name) => (isGiven(value[name]) ? textProblems(`meta.${name}`)(value[name]) : [])),
    ...(isGiven(audience) ? wordProblems("meta.audience", audiences)(audience) : []),
    ...(isGiven(overrides) ? overridesProblems(overrides) : []),
    ...Object.entries(value).flatMap(([name, member]) => sizeProblems(`meta.${name}`, member)),
  ];
}

function overridesProblems(overrides: unknown): Problems {
  const at = "meta.prompt_overrides";
  if (!isObject(overrides)) return wrong(at, "type");
  const { system_append: append } = overrides;
  return isGiven(append) && typeof append !== "string" ? wrong(`${at}.system_append`, "type") : [];
}

/** The shape of an answer; how long its parts may be is part of what an answer to this ask may be. */
export const AskAnswerBody = fields({
  type: wordOf("Answer"),
  ask_id: idField("ask_id"),
  job_id: idField("job_id"),
  step_id: idField("step_id"),
  status: needed<(typeof ANSWER_STATUSES)[number]>(
    "status",
    { ...text, enum: ANSWER_STATUSES },
    wordProblems("status", ANSWER_STATUSES),
  ),
  answer_text: free<string>({ ...text, maxLength: MOST_ANSWER_CHARS }, textProblems("answer_text")),
  answer_json: z.unknown().optional(),
  ask_back: free<string>(text, textProblems("ask_back")),
  error: free<string>(text, textProblems("error")),
  artifacts: free<string[]>({ type: "array", items: text }, (value) =>
    Array.isArray(value) && value.every((one) => typeof one === "string") ? [] : wrong("artifacts", "type"),
  ),
}).meta({ id: "AskAnswer" });
export type AskAnswerBody = z.output<typeof AskAnswerBody>;
