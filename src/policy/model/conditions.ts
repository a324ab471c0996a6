import type { ArgumentCondition } from "./argument-conditions.ts";
import type { CommandCondition } from "./command-condition.ts";
import type { Expression } from "./expression.ts";
import { covers, type InputCondition } from "./match.ts";
import type { PathCondition } from "./path-condition.ts";

/** The line of `when` or `unless` that is an expression over the arguments. */
export interface ExpressionCondition {
  input: "expr";
  expression: Expression;
}

/** One line of `when` or `unless`. */
export type PolicyCondition = InputCondition | CallCondition;

/** A condition on what a call would do exactly: its arguments, its command, its file. */
export type CallCondition = ArgumentCondition | ExpressionCondition | CommandCondition | PathCondition;

/** Returns whether a condition looks at what a call would do exactly. */
export function isOnCall(condition: PolicyCondition): condition is CallCondition {
  return !("any" in condition);
}

/** Returns whether the conditions certainly hold wherever the others do. Those on arguments do where they are the same. */
export function allCover(some: readonly PolicyCondition[], others: readonly PolicyCondition[]): boolean {
  return some.every((condition) => {
    if (isOnCall(condition)) return others.some((other) => isSame(condition, other));
    const other = others.find(({ input }) => condition.input === input);
    const narrows = other && !isOnCall(other) ? other.any : null;
    return narrows?.every((narrow) => condition.any.some((wide) => covers(wide, narrow))) ?? false;
  });
}

function isSame(one: CallCondition, other: PolicyCondition): boolean {
  return one.input === other.input && JSON.stringify(one) === JSON.stringify(other);
}
