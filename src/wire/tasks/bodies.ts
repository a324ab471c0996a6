/** Bodies that give coding agents tasks, and review them (spec/assignment 2 and 12). */
import { z } from "zod";
import { lengthOf, textFault, type Fault } from "../../core/model/field-problem.ts";
import { REVIEW_DECISIONS, START_ON } from "../../tasks/model/task.ts";
import { custom, rule, type InnerFault, integer, text } from "../fields.ts";
import { jsonSchemaOf } from "../json-schema.ts";

const MOST_ID = 200;
const MOST_PROMPT = 100_000;
const MOST_DEPENDENCIES = 50;
const MOST_COMMENT = 20_000;
const MOST_COMMENTS = 200;
const MOST_PATH = 1000;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** True for a text that a task may be called; no other is in the store. */
export function isTaskId(text: string): boolean {
  return text !== "" && lengthOf(text) <= MOST_ID && text.isWellFormed() && !CONTROL.test(text);
}

/** The name of a task. */
const taskId = z.string().check(rule(idFault, { minimum: 1, maximum: MOST_ID }));

function idFault(id: unknown): Fault | null {
  if (typeof id !== "string") return { says: "must be a string", constraint: "type" };
  if (isTaskId(id)) return null;
  const length = lengthOf(id);
  return length < 1 || length > MOST_ID
    ? { says: `must be between 1 and ${MOST_ID} characters`, constraint: "length", min: 1, max: MOST_ID }
    : { says: "must hold no control characters", constraint: "characters" };
}

/** The prompt, whose length is counted without the white space around it. */
const prompt = z
  .string()
  .check(rule((words) => textFault(words.trim(), 1, MOST_PROMPT), { minimum: 1, maximum: MOST_PROMPT }));

const dependencies = custom<string[]>(
  { type: "array", items: { type: "string" }, maxItems: MOST_DEPENDENCIES },
  Array.isArray,
  "must be a list of ids",
).check(
  rule((ids) => {
    const at = ids.findIndex((id) => idFault(id) !== null);
    if (at >= 0) return [{ at: [at], ...idFault(ids[at]) } as InnerFault];
    if (new Set(ids).size <= MOST_DEPENDENCIES) return null;
    return { says: `may hold ${MOST_DEPENDENCIES}`, constraint: "length", min: 0, max: MOST_DEPENDENCIES };
  }),
);

export const WireLineComment = z
  .object({ path: z.string(), line: z.int(), text: z.string() })
  .meta({ id: "LineComment", description: "One remark about a line of the work." });
export type WireLineComment = z.output<typeof WireLineComment>;

const comments = custom<WireLineComment[]>(
  { type: "array", maxItems: MOST_COMMENTS, items: jsonSchemaOf(WireLineComment) },
  Array.isArray,
  "must be a list",
).check(
  rule((given) => {
    if (given.length > MOST_COMMENTS) {
      return { says: `may hold ${MOST_COMMENTS}`, constraint: "length", min: 0, max: MOST_COMMENTS };
    }
    const at = given.findIndex((one) => !isLineComment(one));
    return at < 0 ? null : [{ at: [at], says: "must have path, line and text", constraint: "type" }];
  }),
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
export const NewTaskBody = z
  .object({
    id: taskId,
    prompt,
    dependencies: dependencies.optional(),
    agent: text(1, 64).optional(),
    base: text(1, 255).optional(),
    startDependentsOn: z.enum(START_ON).optional(),
  })
  .meta({ id: "NewTask" });
export type NewTaskBody = z.output<typeof NewTaskBody>;

/** A person's review of a task. */
export const TaskReviewBody = z
  .object({
    verdict: z.enum(REVIEW_DECISIONS),
    attempt: integer(1, 1_000_000),
    comment: text(0, MOST_COMMENT).optional(),
    comments: comments.optional(),
  })
  .meta({ id: "TaskReview" });
export type TaskReviewBody = z.output<typeof TaskReviewBody>;

/** The same, of whoever is signed in. */
export const PersonReviewBody = TaskReviewBody.meta({ id: "PersonReview" });

/** A task that is to be cancelled, where the address does not name it. */
export const TaskNameBody = z.object({ id: z.string() }).meta({ id: "TaskName" });
