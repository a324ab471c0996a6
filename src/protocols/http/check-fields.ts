import { z } from "zod";
import { refuseFields, type FieldProblem } from "../../core/model/field-problem.ts";
import type { Refusal } from "../../refusals.ts";

/**
 * Returns the fields of `value`, or the refusal that names what is wrong with it.
 */
export function checkFields<T>(schema: z.ZodType<T>, value: unknown): { value: T } | { error: Refusal } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const place = (problem: FieldProblem) => names.indexOf(problem.field.split(/[[.]/, 1).join(""));
  const problems = parsed.error.issues.map(problemOf).sort((one, other) => place(one) - place(other));
  return { error: refuseFields(problems) };
}

function problemOf(issue: z.core.$ZodIssue): FieldProblem {
  if (issue.code === "custom" && issue.params?.["problem"]) return issue.params["problem"] as FieldProblem;
  const name = issue.path.join(".");
  return { message: `${name || "the request"} is not valid`, field: name, constraint: "type" };
}
