import { keepResults } from "../../lib/kept-results.ts";
import { checkPolicy, PolicyMistake } from "./check.ts";
import type { PolicyRule } from "./policy.ts";

/** The calls that a grant covers, where it covers more than one exact call. It is stored as it is written. */
export interface GrantPattern {
  /** The conditions of a rule, as a policy file writes them. */
  when: Readonly<Record<string, unknown>>;
  /** The run of an agent that alone may use the grant; left out, every run may. */
  run?: string;
}

/** A pattern that is ready to be compared. */
export interface ReadPattern {
  rule: PolicyRule;
  run?: string;
}

/**
 * Returns a pattern ready to be compared: a rule that allows what its conditions certainly cover.
 *
 * @throws {PolicyMistake} for conditions that no policy file may have
 */
export function readPattern({ when, run }: GrantPattern): ReadPattern {
  return { rule: ruleOf(JSON.stringify(when)), ...(run !== undefined && { run }) };
}

/** Every call of an agent looks at the same patterns. */
const ruleOf = keepResults(2000, (when) => {
  const [rule] = checkPolicy({
    version: 1,
    rules: [{ id: "pattern", when: JSON.parse(when) as unknown, decision: "ALLOW" }],
  }).rules;
  if (!rule) throw new PolicyMistake([{ path: [], says: "has no rule" }]);
  return rule;
});
