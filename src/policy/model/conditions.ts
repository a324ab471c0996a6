import type { ArgumentCondition } from "./argument-conditions.ts";
import type { Expression } from "./expression.ts";
import { covers, type InputCondition } from "./match.ts";

/** The line of `when` or `unless` that is an expression over the arguments. */
export interface ExpressionCondition {
  input: "expr";
  expression: Expression;
}

/** One line of `when` or `unless`. */
export type PolicyCondition = InputCondition | ArgumentCondition | ExpressionCondition;

/** Returns whether a condition looks at the arguments of a call. */
export function isOnArguments(condition: PolicyCondition): condition is ArgumentCondition | ExpressionCondition {
  return condition.input === "args" || condition.input === "expr";
}

/** Returns whether the conditions certainly hold wherever the others do. Those on arguments do where they are the same. */
export function allCover(some: readonly PolicyCondition[], others: readonly PolicyCondition[]): boolean {
  return some.every((condition) => {
    if (isOnArguments(condition)) return others.some((other) => isSame(condition, other));
    const other = others.find(({ input }) => condition.input === input);
    const narrows = other && !isOnArguments(other) ? other.any : null;
    return narrows?.every((narrow) => condition.any.some((wide) => covers(wide, narrow))) ?? false;
  });
}

function isSame(one: ArgumentCondition | ExpressionCondition, other: PolicyCondition): boolean {
  if (one.input === "expr") return other.input === "expr" && other.expression.text === one.expression.text;
  if (other.input !== "args" || other.pointer !== one.pointer) return false;
  return JSON.stringify(other.tests) === JSON.stringify(one.tests);
}
