/** New asks of executors, and the answers that are posted to them (spec/relay 3 to 5). */
import { z } from "zod";
import type { AskConstraints, ContextEnvelope } from "../../asks/model/ask.ts";
import { ASK_REPORTS, ASK_STATUSES } from "../../asks/model/ask.ts";
import { readOptions } from "../../asks/model/choice-options.ts";
import { MOST_ANSWER_CHARS } from "../../asks/model/people.ts";
import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { MOST_OUTCOME_WORDS, REPORTS } from "../../requests/model/call-outcome.ts";
import { lengthOf, type FieldProblem } from "../../core/model/field-problem.ts";
import { canonicalExact, isJsonObject } from "../../lib/json/exact-json.ts";
import { custom, matching, rule, ruleOfAll, texts, type InnerFault } from "../fields.ts";
import { RELAY_ID } from "./fields.ts";

const ROLE = /^[a-z0-9._-]+(@v\d+)?$/;
const MOST_PROMPT = 16_000;
const MOST_JSON_BYTES = 65_536;
const MOST_META = 200;
const META_TEXTS = ["action", "resource", "env", "in_reply_to", "to", "traceparent", "reason"] as const;
const ANSWER_STATUSES = ASK_STATUSES.filter((status) => status !== "PENDING");

type Json = Readonly<Record<string, unknown>>;

/** Null counts as absent. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const isObject = (value: unknown): value is Json =>
  isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype;

/** Returns whether every store and every channel can take a text as it is. */
const isText = (value: string): boolean => !value.includes("\0") && value.isWellFormed();

/** A fault of a member. One sentence is said of all of them, so that only their facts differ. */
const wrong = (at: string, constraint: string, facts: Json = {}): InnerFault[] => [
  { says: "", constraint, at: at === "" ? [] : at.split("."), ...facts },
];

/** Returns a problem with an ask or an answer as clients of the relay read it. */
export function relayProblem(problem: FieldProblem): FieldProblem {
  const constraint = problem.constraint === "const" ? "enum" : problem.constraint;
  return { ...problem, message: "Request body is not valid", constraint };
}

const textFaults = (at: string, value: unknown): InnerFault[] => {
  if (typeof value !== "string") return wrong(at, "type");
  return isText(value) ? [] : wrong(at, "characters");
};

const sizeFaults = (at: string, value: unknown): InnerFault[] =>
  typeof value === "object" && value !== null && Buffer.byteLength(canonicalExact(value)) > MOST_JSON_BYTES
    ? wrong(at, "size", { max_bytes: MOST_JSON_BYTES })
    : [];

const members = { type: "object", additionalProperties: true } as const;
const text = z.string().check(rule((value) => textFaults("", value)));
const id = matching(RELAY_ID, { says: "", constraint: "format", pattern: RELAY_ID.source });
const role = z
  .string()
  .check(
    rule((value) => (value.length > 128 || !ROLE.test(value) ? wrong("", "format", { pattern: ROLE.source }) : null)),
  );
const sized = (min: number, max: number, lengthIn: (value: string) => number) =>
  rule((value: string) => {
    const length = lengthIn(value);
    return length < min || length > max ? wrong("", "length", { min, max }) : null;
  });

const object = <T>(json: z.GlobalMeta, faults: (value: Json) => readonly InnerFault[]) =>
  custom<T>(json, isObject, "").check(rule((value) => faults(value as Json)));

/** An ask, whose `meta.audience` may be one of these groups. */
export function newAskBody(groups: Iterable<string>) {
  const audiences = ["team", "public", ...groups];
  return z
    .object({
      type: z.literal("Ask").optional(),
      ask_id: id.optional(),
      job_id: id,
      step_id: id,
      ask_type: z.enum(ASK_TYPES),
      prompt: text
        .check(sized(1, MOST_PROMPT, (given) => lengthOf(given.trim())))
        .meta({ minLength: 1, maxLength: MOST_PROMPT }),
      context_envelope: object<ContextEnvelope>(members, envelopeFaults).optional(),
      context_hash: text.check(sized(1, 256, lengthOf)).optional(),
      constraints: object<GivenConstraints>(CONSTRAINTS, constraintsFaults).optional(),
      role_id: role.optional(),
      reports: z
        .enum(ASK_REPORTS)
        .describe("The executor reports the start and the end of what is allowed, or the end alone")
        .optional(),
      meta: object<Json>(members, (value) => metaFaults(value, audiences)).optional(),
    })
    .check(
      ruleOfAll(({ ask_type: type, context_envelope: envelope, context_hash: hash, meta }) => [
        ...(isObject(envelope) || isGiven(hash) ? [] : wrong("context_hash", "required")),
        ...(type === "CHOICE" && isGiven(meta?.["options"]) && !readOptions(meta?.["options"])
          ? wrong("meta.options", "length", { min: 2, max: 20 })
          : []),
      ]),
    );
}
export type NewAskBody = z.output<ReturnType<typeof newAskBody>>;

function envelopeFaults(value: Json): InnerFault[] {
  const { job_snapshot: snapshot, role, tool_caps: caps } = value;
  return [
    ...(isObject(snapshot) ? [] : wrong("job_snapshot", isGiven(snapshot) ? "type" : "required")),
    ...(typeof role === "string" ? [] : wrong("role", isGiven(role) ? "type" : "required")),
    ...["facts", "tool_caps"].flatMap((name) =>
      isGiven(value[name]) && !isObject(value[name]) ? wrong(name, "type") : [],
    ),
    ...Object.entries(isObject(caps) ? caps : {}).flatMap(([tool, own]) =>
      isObject(own) ? [] : [{ says: "", constraint: "type", at: ["tool_caps", tool] }],
    ),
    ...sizeFaults("", value),
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

function constraintsFaults(value: Json): InnerFault[] {
  const { timeout_s: timeoutS, max_tokens: maxTokens, allowed_tools: tools } = value;
  const within = (name: string, number: unknown, isRight: boolean, max: number): InnerFault[] => {
    if (!isGiven(number)) return [];
    if (!isRight) return wrong(name, "type");
    const isWithin = (number as number) >= 1 && (number as number) <= max;
    return isWithin ? [] : wrong(name, "range", { min: 1, max });
  };
  return [
    ...within("timeout_s", timeoutS, typeof timeoutS === "number", LONGEST_TIMEOUT_S),
    ...within("max_tokens", maxTokens, Number.isInteger(maxTokens), MOST_TOKENS),
    ...(isGiven(tools) ? toolsFaults(tools) : []),
  ];
}

function toolsFaults(tools: unknown): InnerFault[] {
  const at = "allowed_tools";
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

function metaFaults(value: Json, audiences: readonly string[]): InnerFault[] {
  const { audience, prompt_overrides: overrides } = value;
  return [
    ...(Object.keys(value).length > MOST_META ? wrong("", "length", { min: 0, max: MOST_META }) : []),
    ...META_TEXTS.flatMap((name) => (isGiven(value[name]) ? textFaults(name, value[name]) : [])),
    ...(isGiven(audience) && !audiences.some((one) => one === audience)
      ? wrong("audience", "enum", { allowed: audiences })
      : []),
    ...(isGiven(overrides) ? overridesFaults(overrides) : []),
    ...Object.entries(value).flatMap(([name, member]) =>
      sizeFaults("", member).map((fault) => ({ ...fault, at: [name] })),
    ),
  ];
}

function overridesFaults(overrides: unknown): InnerFault[] {
  const at = "prompt_overrides";
  if (!isObject(overrides)) return wrong(at, "type");
  const { system_append: append } = overrides;
  return isGiven(append) && typeof append !== "string" ? wrong(`${at}.system_append`, "type") : [];
}

/** The shape of an answer; how long its parts may be is part of what an answer to this ask may be. */
export const AskAnswerBody = z
  .object({
    type: z.literal("Answer").optional(),
    ask_id: id,
    job_id: id,
    step_id: id,
    status: z.enum(ANSWER_STATUSES),
    answer_text: text.meta({ maxLength: MOST_ANSWER_CHARS }).optional(),
    answer_json: z.unknown().optional(),
    ask_back: text.optional(),
    error: text.optional(),
    artifacts: texts("").optional(),
  })
  .meta({ id: "AskAnswer" });
export type AskAnswerBody = z.output<typeof AskAnswerBody>;

export const AskOutcomeBody = z
  .object({
    outcome: z
      .enum(["started", ...REPORTS])
      .describe("`started`: the holder of the job runs it from now on; `withdrawn`: it will not be run"),
    result_digest: matching(/^sha256:[0-9a-f]{64}$/, { says: "", constraint: "format" })
      .describe("Of the result of the call")
      .optional(),
    text: text
      .check(sized(0, MOST_OUTCOME_WORDS, lengthOf))
      .meta({ maxLength: MOST_OUTCOME_WORDS, description: "Words for people; secrets are taken out" })
      .optional(),
  })
  .meta({ id: "NewAskOutcome", description: "What became of the call that an ask allowed." });
