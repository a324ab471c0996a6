import { allowanceWords, spendingOf } from "./allowance.ts";
import { withPreset } from "./policy.ts";
import { ATTEMPT_ENV } from "../../core/model/attempt-kind.ts";
import {
  holds,
  isAboutCalls,
  isMet,
  isRead,
  judgeCondition,
  nameOf,
  valueOf,
  type Policy,
  type PolicyInput,
  type PolicyRule,
  type PolicyDecision,
} from "./policy.ts";
import { testWords } from "./argument-conditions.ts";
import { type InputCondition, POLICY_INPUTS, type PolicyValue, type Pattern } from "./match.ts";
import { isOnCall, type PolicyCondition } from "./conditions.ts";

/**
 * Returns in words, a line each, what was decided of an input and what every rule had to say about it; of what coding
 * agents want, for which the env is `agent`, also what the preset makes of it.
 */
export function explainDecision(
  policy: Policy,
  input: PolicyInput,
  policyDecision: PolicyDecision,
  preset: Policy,
): string[] {
  return [
    ...inputWords(input),
    "",
    ...decisionWords(policy, input, policyDecision),
    ...(policy.rules.length > 0 ? [""] : []),
    ...policy.rules.map((rule) => `  ${nameOf(rule)} (${effectWords(rule)}) ${ruleWords(rule, input)}`),
    ...(input.env === ATTEMPT_ENV ? presetWords(policyDecision, preset, input) : []),
  ];
}

function presetWords(policyDecision: PolicyDecision, preset: Policy, input: PolicyInput): string[] {
  const { decision, because } = withPreset(policyDecision, preset, input);
  const isAsked = policyDecision.trace.defaulted && policyDecision.decision !== "DENY";
  return isAsked
    ? ["", `For a permission that a coding agent wants, ${preset.name} counts. ${decision}: ${because}.`]
    : [];
}

function inputWords(input: PolicyInput): string[] {
  const names = input.fn === null ? POLICY_INPUTS : (["agent", "fn"] as const);
  const named = names.flatMap((name) => (input[name] === null ? [] : [`${name} ${valueWords(input[name])}`]));
  const meta = [...input.meta].map(([key, value]) => `meta.${key} ${valueWords(value)}`);
  const claimed = Object.entries(input.claimed).map(
    ([name, value]) => `It claimed ${name} ${JSON.stringify(value)}; what is registered on the job counts.`,
  );
  return [`Asked about: ${[...named, ...meta].join(", ")}.`, ...claimed];
}

function decisionWords(policy: Policy, input: PolicyInput, policyDecision: PolicyDecision): string[] {
  const { decision, trace, because, to, need = 1, isGrantable, risk } = policyDecision;
  const lines = [`${decision}: ${because}.`];
  if (trace.rule_index !== undefined) {
    const rule = policy.rules[trace.rule_index];
    if (rule?.reason) lines.push(`That is what ${nameOf(rule)} says.`);
    if (rule?.most) lines.push(`It allows ${allowanceWords(rule.most)}; people decide about more.`);
  }
  if (input.fn !== null) {
    if (decision === "ESCALATE") lines.push("Asked: whomever the call names; no default decides a function call.");
    if (decision === "ESCALATE" && !isGrantable) lines.push("Nobody can allow it for good.");
    if (risk) lines.push(`Risk: ${risk.kind}, says ${risk.rule}. What Parley reads from the call stands beside it.`);
    return lines;
  }
  if (trace.defaulted) {
    lines.push(`What counts is the default for "${isRead(input) ? "read" : "other"}".`);
  }
  if (decision === "ESCALATE") {
    lines.push(
      `Asked: ${to ?? "whoever is asked by default"}; ${need === 1 ? "one of them decides" : `${need} of them must approve`}.`,
    );
    if (!isGrantable) lines.push("Nobody can allow it for good.");
  }
  if (decision === "ALLOW" && trace.defaulted) {
    lines.push("A default approves nothing: an APPROVAL is put to people all the same.");
  }
  return lines;
}

function valueWords(value: PolicyValue): string {
  if (value === null) return "missing";
  return typeof value === "string" ? JSON.stringify(value) : "nothing that can be compared";
}

/** Returns the decision of a rule: `ALLOW`, or `only observed: would ALLOW`. */
function effectWords({ decision, isObserved, most }: PolicyRule): string {
  const effect = most ? `${decision} ${allowanceWords(most)}` : decision;
  return isObserved ? `only observed: would ${effect}` : effect;
}

function ruleWords(rule: PolicyRule, input: PolicyInput): string {
  if (holds(rule, input)) return "matches";
  if (input.fn !== null && !isAboutCalls(rule)) return "is about what executors ask: it names no fn";
  const missed = rule.when.find((condition) => !isMet(condition, input, rule.decision !== "ALLOW"));
  if (!missed && rule.most && !spendingOf(rule.most, input))
    return `does not match: the call cannot be counted as ${allowanceWords(rule.most)}`;
  if (!missed) return `makes an exception: ${rule.unless.map(conditionWords).join(" and ")}`;
  if (isOnCall(missed)) {
    const isOpen = judgeCondition(missed, input) === null;
    const words = conditionWords(missed);
    return isOpen ? `does not match: whether ${words} cannot be decided` : `does not match: it is not so that ${words}`;
  }
  const value = valueOf(missed.input, input);
  return `does not match: ${missed.input} is ${valueWords(value)}, not ${anyWords(missed)}`;
}

/** Returns what a rule is about, on one line, and how much it allows. */
export function conditionsText({ when, unless, most }: Pick<PolicyRule, "when" | "unless" | "most">): string {
  const line = (conditions: readonly PolicyCondition[]) => conditions.map(conditionWords).join(", ");
  const about = unless.length === 0 ? line(when) : `${line(when)}, unless ${line(unless)}`;
  return most ? `${about}; ${allowanceWords(most)}` : about;
}

function conditionWords(condition: PolicyCondition): string {
  if (condition.input === "expr") return condition.expression.text;
  if (condition.input === "command" || condition.input === "path") {
    return `${condition.input} is ${condition.patterns.map((pattern) => JSON.stringify(pattern)).join(" or ")}`;
  }
  if (condition.input === "args") return `args${condition.pointer} ${condition.tests.map(testWords).join(" and ")}`;
  return `${condition.input} is ${anyWords(condition)}`;
}

function anyWords({ any }: InputCondition): string {
  return any.map(patternWords).join(" or ");
}

function patternWords(pattern: Pattern): string {
  return pattern === null ? "missing" : JSON.stringify(pattern.join("*"));
}
