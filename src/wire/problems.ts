/** The one table from what Zod finds wrong to what clients are told. */
import type { z } from "zod";
import { problemAt, type Fault, type FieldProblem } from "../core/model/field-problem.ts";

const TYPES: Readonly<Record<string, string>> = {
  string: "must be a string",
  boolean: "must be true or false",
  array: "must be a list",
  object: "must be an object",
};

/** Zod's settings for input: its issues say phrases, unless a schema has a phrase of its own, and keep the value. */
export const PARSING = { error: phraseOf, reportInput: true } as const;

function phraseOf(issue: z.core.$ZodRawIssue): string {
  if (issue.code === "invalid_type") return TYPES[issue.expected] ?? "is not valid";
  if (issue.code === "too_small" && issue.origin === "array") return `must hold ${issue.minimum} or more items`;
  if (issue.code === "too_big" && issue.origin === "array") return `may hold at most ${issue.maximum} items`;
  return issue.code === "invalid_value" ? `must be ${oneOf(issue.values.map(String))}` : "is not valid";
}

function oneOf(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** Returns the fault that an issue reports. */
export function faultOf(issue: z.core.$ZodIssue): Fault {
  const says = issue.message;
  if (issue.code === "custom" && issue.params) return { says, constraint: "type", ...issue.params };
  if (issue.input === undefined) return { says: "is required", constraint: "required" };
  if ("origin" in issue && issue.origin === "array") return { says, constraint: "length" };
  if (issue.code !== "invalid_value") return { says, constraint: "type" };
  return { says, constraint: issue.values.length === 1 ? "const" : "enum", allowed: issue.values };
}

/** Returns the problems of a value, each with the name of its field: `options[3].name`. */
export function problemsOf(issues: readonly z.core.$ZodIssue[]): FieldProblem[] {
  return issues.map((issue) => {
    if (issue.path.length === 0) return { message: "the request is not valid", field: "", constraint: "type" };
    return problemAt(nameOf(issue.path), faultOf(issue));
  });
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === "number") return `${name}[${step}]`;
    return name === "" ? String(step) : `${name}.${String(step)}`;
  }, "");
}
