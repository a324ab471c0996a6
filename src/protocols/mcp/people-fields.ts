import { soundsApproving } from "../../requests/model/reply-grammar.ts";
import type { ForeignSchema, ResponseOption } from "../../requests/model/request.ts";
import { textProblem, type FieldProblem } from "../../core/model/field-problem.ts";
import { checkedField, fields, integerField, optional, textField } from "../../wire/fields.ts";

const MOST_OPTIONS = 25;
const A_DAY_S = 86_400;
export const AN_HOUR_S = 3600;

type Field<T> = ReturnType<typeof checkedField<T>>;

function problem(field: string, constraint: string, says: string): FieldProblem {
  return { message: `${field} ${says}`, field, constraint };
}

/** A text of one line. */
function lineField(name: string, min: number, max: number): Field<string> {
  return checkedField({ type: "string", minLength: min, maxLength: max }, (value) => {
    if (value === undefined) return problem(name, "required", "is required");
    return lineProblem(name, value, min, max);
  });
}

function lineProblem(name: string, value: unknown, min: number, max: number): FieldProblem | null {
  if (typeof value !== "string") return problem(name, "type", "must be a string");
  if (/\p{Cc}/u.test(value)) return problem(name, "characters", "may hold no control characters");
  return textProblem(name, value, min, max);
}

function objectField(name: string): Field<Record<string, unknown>> {
  return checkedField({ type: "object", additionalProperties: true }, (value) => {
    if (value === undefined) return problem(name, "required", "is required");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? null : problem(name, "type", "must be an object");
  });
}

interface GivenOption {
  name: string;
  title?: string;
  description?: string;
}

/** Ready-made answers, each with a name of its own. */
function optionsField(name: string): Field<GivenOption[]> {
  return checkedField({ type: "array", maxItems: MOST_OPTIONS }, (value) => {
    if (value === undefined) return problem(name, "required", "is required");
    if (!Array.isArray(value)) return problem(name, "type", "must be a list");
    if (value.length > MOST_OPTIONS) return problem(name, "length", `may have at most ${MOST_OPTIONS} items`);
    const problems = value.flatMap((option: unknown, i) => optionProblems(`${name}[${i}]`, option));
    if (problems.length > 0) return problems;
    const approving = name === "reject_options" ? value.findIndex(readsAsApproval) : -1;
    if (approving >= 0) return problem(`${name}[${approving}]`, "pattern", "must not read as an approval");
    const names = new Set(value.map((option: GivenOption) => option.name));
    return names.size === value.length ? null : problem(name, "unique", "must all have different names");
  });
}

function readsAsApproval({ name, title = "" }: GivenOption): boolean {
  return soundsApproving(name) || soundsApproving(title);
}

function optionProblems(at: string, option: unknown): FieldProblem[] {
  if (typeof option !== "object" || option === null || Array.isArray(option)) {
    return [problem(at, "type", "must be an object")];
  }
  const { name, title, description } = option as Record<string, unknown>;
  return [
    name === undefined ? problem(`${at}.name`, "required", "is required") : lineProblem(`${at}.name`, name, 1, 64),
    title === undefined ? null : lineProblem(`${at}.title`, title, 0, 75),
    description === undefined
      ? null
      : typeof description === "string"
        ? textProblem(`${at}.description`, description, 0, 500)
        : problem(`${at}.description`, "type", "must be a string"),
  ].filter((one) => one !== null);
}

/** Returns ready-made answers as the model has them: one press answers. */
export function optionsOf(given: readonly GivenOption[] = []): ResponseOption[] {
  return given.map(({ name, title, description }) => ({
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    interactive: false,
  }));
}

const common = {
  to: optional(lineField("to", 1, 200)),
  idempotency_key: optional(lineField("idempotency_key", 1, 255)),
  max_wait_seconds: optional(integerField("max_wait_seconds", 0, 3600)),
};
const MOST_TIMEOUT_S = 604_800;

/** The arguments of `contact_human` (spec/mcp 4.2). */
export const Contact = fields({
  message: textField("message", 1, 40_000),
  subject: optional(lineField("subject", 0, 998)),
  options: optional(optionsField("options")),
  response_schema: optional(objectField("response_schema") as Field<ForeignSchema & Record<string, unknown>>),
  timeout_seconds: optional(integerField("timeout_seconds", 60, MOST_TIMEOUT_S, { default: A_DAY_S })),
  ...common,
});

/** The arguments of `request_approval` (spec/mcp 4.3). */
export const Approval = fields({
  fn: lineField("fn", 1, 256),
  kwargs: objectField("kwargs"),
  reason: optional(textField("reason", 0, 2000)),
  reject_options: optional(optionsField("reject_options")),
  timeout_seconds: optional(integerField("timeout_seconds", 60, MOST_TIMEOUT_S, { default: AN_HOUR_S })),
  ...common,
});

/** The arguments of `approve` (spec/mcp 4.4). */
export const Permission = fields({
  tool_name: lineField("tool_name", 1, 256),
  input: objectField("input"),
  tool_use_id: optional(lineField("tool_use_id", 1, 255)),
});

/** The arguments of `list_humans` (spec/mcp 4.4). */
export const People = fields({
  query: optional(textField("query", 0, 200)),
  limit: optional(integerField("limit", 1, 100, { default: 50 })),
  cursor: optional(lineField("cursor", 1, 20)),
});

export const usualTimeout = { contact: A_DAY_S, approval: AN_HOUR_S } as const;
