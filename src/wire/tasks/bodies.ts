/** Bodies that give coding agents tasks, and review them (spec/assignment 2 and 12). */
import { z } from "zod";
import { lengthOf, type FieldProblem } from "../../core/model/field-problem.ts";
import { REVIEW_DECISIONS, START_ON } from "../../tasks/model/task.ts";
import { checkedField, fields, integerField, optional, textField, wordField } from "../fields.ts";
import { jsonSchemaOf } from "../json-schema.ts";

const MOST_ID = 200;
const MOST_PROMPT = 100_000;
const MOST_DEPENDENCIES = 50;
const MOST_COMMENT = 20_000;
const MOST_COMMENTS = 200;
const MOST_PATH = 1000;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const wrong = (field: string, constraint: string, message: string, more: object = {}): FieldProblem => ({
  message,
  field,
  constraint,
  ...more,
});

/** True for a text that a task may be called; no other is in the store. */
export function isTaskId(text: string): boolean {
  return text !== "" && lengthOf(text) <= MOST_ID && text.isWellFormed() && !CONTROL.test(text);
}

/** The name of a task. */
function taskIdField(name: string): z.ZodType<string, string> {
  return checkedField({ type: "string", minLength: 1, maxLength: MOST_ID }, (value) => {
    if (value === undefined) return wrong(name, "required", `${name} is required`);
    return idProblem(name, value);
  });
}

function idProblem(name: string, value: unknown): FieldProblem | null {
  if (typeof value !== "string") return wrong(name, "type", `${name} must be a string`);
  if (isTaskId(value)) return null;
  const length = lengthOf(value);
  return length < 1 || length > MOST_ID
    ? wrong(name, "length", `${name} must be between 1 and ${MOST_ID} characters`, { min: 1, max: MOST_ID })
    : wrong(name, "characters", `${name} must hold no control characters`);
}

/** The prompt, whose length is counted without the white space around it. */
const promptField = checkedField<string>({ type: "string", minLength: 1, maxLength: MOST_PROMPT }, (value) => {
  if (value === undefined) return wrong("prompt", "required", "prompt is required");
  if (typeof value !== "string") return wrong("prompt", "type", "prompt must be a string");
  if (value.includes("\0") || !value.isWellFormed()) {
    return wrong("prompt", "characters", "prompt holds characters that cannot be stored");
  }
  const length = lengthOf(value.trim());
  if (length >= 1 && length <= MOST_PROMPT) return null;
  const bounds = { min: 1, max: MOST_PROMPT };
  return wrong("prompt", "length", `prompt must be between 1 and ${MOST_PROMPT} characters`, bounds);
});

const dependenciesField = checkedField<string[]>(
  { type: "array", items: { type: "string" }, maxItems: MOST_DEPENDENCIES },
  (value) => {
    const name = "dependencies";
    if (!Array.isArray(value)) return wrong(name, "type", "dependencies must be a list of ids");
    const bad = value.map((id, i) => idProblem(`${name}[${i}]`, id)).find((problem) => problem !== null);
    if (bad) return bad;
    if (new Set(value).size <= MOST_DEPENDENCIES) return null;
    const bounds = { min: 0, max: MOST_DEPENDENCIES };
    return wrong(name, "length", `dependencies may hold ${MOST_DEPENDENCIES}`, bounds);
  },
);

export const WireLineComment = z
  .object({ path: z.string(), line: z.int(), text: z.string() })
  .meta({ id: "LineComment", description: "One remark about a line of the work." });
export type WireLineComment = z.output<typeof WireLineComment>;

const commentsField = checkedField<WireLineComment[]>(
  { type: "array", maxItems: MOST_COMMENTS, items: jsonSchemaOf(WireLineComment) },
  (value) => {
    const name = "comments";
    if (!Array.isArray(value)) return wrong(name, "type", "comments must be a list");
    if (value.length > MOST_COMMENTS) {
      return wrong(name, "length", `comments may hold ${MOST_COMMENTS}`, { min: 0, max: MOST_COMMENTS });
    }
    const i = value.findIndex((one) => !isLineComment(one));
    return i < 0 ? null : wrong(`${name}[${i}]`, "type", `comments[${i}] must have path, line and text`);
  },
);

function isLineComment(value: unknown): value is WireLineComment {
  if (typeof value !== "object" || value === null) return false;
  const { path, line, text } = value as Record<string, unknown>;
  return isText(path, MOST_PATH) && isText(text, MOST_COMMENT) && Number.isSafeInteger(line) && (line as number) >= 1;
}

function isText(value: unknown, most: number): boolean {
  if (typeof value !== "string" || value.includes("\0") || !value.isWellFormed()) return false;
  return value.trim() !== "" && lengthOf(value) <= most;
}

/** A new task. Members that are not listed are ignored. */
export const NewTaskBody = fields({
  id: taskIdField("id"),
  prompt: promptField,
  dependencies: optional(dependenciesField),
  agent: optional(textField("agent", 1, 64)),
  base: optional(textField("base", 1, 255)),
  startDependentsOn: optional(wordField("startDependentsOn", START_ON)),
}).meta({ id: "NewTask" });
export type NewTaskBody = z.output<typeof NewTaskBody>;

/** A person's review of a task. */
export const TaskReviewBody = fields({
  verdict: wordField("verdict", REVIEW_DECISIONS),
  attempt: integerField("attempt", 1, 1_000_000),
  comment: optional(textField("comment", 0, MOST_COMMENT)),
  comments: optional(commentsField),
}).meta({ id: "TaskReview" });
export type TaskReviewBody = z.output<typeof TaskReviewBody>;

/** The same, of whoever is signed in. */
export const PersonReviewBody = TaskReviewBody.meta({ id: "PersonReview" });

/** A task that is to be cancelled, where the address does not name it. */
export const TaskNameBody = z.object({ id: z.string() }).meta({ id: "TaskName" });
