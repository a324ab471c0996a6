import { z } from "zod";
import { refuseFields, type FieldProblem } from "../../core/model/field-problem.ts";
import type { Refusal } from "../../refusals.ts";
import { PARSING, problemsOf } from "../../wire/problems.ts";

/**
 * Returns the fields of `value`, or the refusal that names what is wrong with it, in the words of `print`.
 */
export function checkFields<T>(
  schema: z.ZodType<T>,
  value: unknown,
  print = (problem: FieldProblem): FieldProblem => problem,
): { value: T } | { error: Refusal } {
  const parsed = schema.safeParse(value, PARSING);
  if (parsed.success) return { value: parsed.data };
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const place = ({ path }: z.core.$ZodIssue) => names.indexOf(String(path[0]));
  const issues = parsed.error.issues.sort((one, other) => place(one) - place(other));
  return { error: refuseFields(problemsOf(issues).map((problem) => print(problem))) };
}
