import { isAboutCalls, nameOf, type Policy, type PolicyRule } from "./policy.ts";
import { ATTEMPT_ENV } from "../../core/model/attempt-kind.ts";
import { type InputCondition } from "./match.ts";
import { allCover, isOnCall, type PolicyCondition } from "./conditions.ts";

/** A rule that does nothing, and why. */
export interface LintNote {
  /** Where the rule stands in the file, from 0. */
  rule: number;
  says: string;
}

/**
 * Returns the rules that can never win: those whose own exception takes all they are about, and those that another one
 * always wins over. A reported rule is certain for values that can be compared; a rule that is not reported may still
 * be idle.
 */
export function lintPolicy({ rules }: Policy): LintNote[] {
  return rules.flatMap((rule): LintNote[] => {
    const name = nameOf(rule);
    if (rule.unless.length > 0 && allCover(rule.unless, rule.when)) {
      return [{ rule: rule.index, says: `${name} can never win: its unless takes everything its when is about` }];
    }
    // Its risk or its matches count, whichever rule decides.
    if (rule.risk !== null || rule.isObserved) return [];
    const deciding = rules.filter((other) => other !== rule && !other.isObserved && !other.most);
    const winner = deciding.find((other) => winsOver(other, rule) && alwaysHoldsWith(other, rule));
    if (!winner) return [];
    const why = winner.decision === rule.decision ? "says the same of at least as much" : `says ${winner.decision}`;
    return [{ rule: rule.index, says: `${name} can never win: wherever it holds, ${nameOf(winner)} ${why}` }];
  });
}

/** Returns the rules that work, but maybe not as they are meant. */
export function lintDoubts(policy: Policy): LintNote[] {
  // Parley itself describes the requests of coding agents at assigned work.
  const rules = policy.rules.filter(({ when }) => !when.some(isAboutAttempts));
  return [...lintLeftOut(rules), ...lintWithoutFunction(rules)];
}

/** Returns the rules in mode `observe`, which decide nothing. */
export function lintObserved({ rules }: Policy): LintNote[] {
  return rules
    .filter(({ isObserved }) => isObserved)
    .map((rule) => ({ rule: rule.index, says: `${nameOf(rule)} is only observed: it would ${rule.decision}` }));
}

/**
 * Returns the rules that DENY by a value that askers send and may leave out. A request that leaves it out is not
 * denied, unless the rule also names `null`.
 */
function lintLeftOut(rules: readonly PolicyRule[]): LintNote[] {
  return rules.flatMap((rule): LintNote[] => {
    if (rule.decision !== "DENY") return [];
    const open = rule.when.find((one) => "any" in one && mayBeLeftOut(one.input) && !one.any.includes(null));
    if (!open) return [];
    const { input } = open;
    const says = `${nameOf(rule)} denies by ${input}, which an asker may leave out: add null to its values to deny that too`;
    return [{ rule: rule.index, says }];
  });
}

/** Returns the rules that look at the exact call, but name no function: function calls pass them by. */
function lintWithoutFunction(rules: readonly PolicyRule[]): LintNote[] {
  return rules.flatMap((rule): LintNote[] => {
    const input = isAboutCalls(rule) ? undefined : [...rule.when, ...rule.unless].find(isOnCall)?.input;
    const says = `${nameOf(rule)} never applies to function calls, only to executors' asks: its ${input} stands beside no fn`;
    return input ? [{ rule: rule.index, says }] : [];
  });
}

function mayBeLeftOut(input: InputCondition["input"]): boolean {
  return input === "role" || input === "repo" || input.startsWith("meta.");
}

function isAboutAttempts(condition: PolicyCondition): boolean {
  return condition.input === "env" && condition.any.every((pattern) => pattern?.join("*") === ATTEMPT_ENV);
}

/** Whether one rule counts where both hold, by the ranks of `evaluate`. */
function winsOver(one: PolicyRule, other: PolicyRule): boolean {
  const [rank, otherRank] = [rankOf(one), rankOf(other)];
  if (rank !== otherRank) return rank < otherRank;
  return one.need !== other.need ? one.need > other.need : one.index < other.index;
}

function rankOf({ decision, isGrantable, most }: PolicyRule): number {
  switch (decision) {
    case "DENY":
      return 0;
    case "ESCALATE":
      return isGrantable ? 2 : 1;
    case "ALLOW":
      return most ? 4 : 3;
  }
}

/** Whether one rule certainly holds wherever the other does. */
function alwaysHoldsWith(one: PolicyRule, other: PolicyRule): boolean {
  if (isAboutCalls(one) !== isAboutCalls(other) || !allCover(one.when, other.when)) return false;
  return one.unless.length === 0 || (other.unless.length > 0 && allCover(other.unless, one.unless));
}
