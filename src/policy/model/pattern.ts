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

/** Covers nothing: every call has arguments. */
const UNREADABLE: GrantPattern = { when: { fn: "-", args: { "": { exists: false } } } };

/**
 * Returns a pattern as it was stored. One that is no pattern, or holds a condition that its sentence would not name, covers
 * nothing, and stops no other.
 */
export function storedPattern(text: string): GrantPattern {
  try {
    const pattern = JSON.parse(text) as GrantPattern;
    readPattern(pattern);
    return isSaid(pattern) ? pattern : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

/** Whether a pattern named a person whose data was erased since: it is not known any more which calls it covered. */
export function isErased(pattern: GrantPattern): boolean {
  return /\b(?:erased-\d+-\d|Erased person \d)/.test(JSON.stringify(pattern));
}

const isText = (value: unknown): boolean => typeof value === "string";
const TESTS = new Set(["equals", "one_of", "schema", "min", "max"]);

function isSaid({ when, run }: GrantPattern): boolean {
  const { fn, agent, command, path, args = {}, ...more } = when;
  const tests = Object.values(args as Readonly<Record<string, unknown>>);
  const areTests = tests.every((test) => isBlock(test) && Object.keys(test).every((name) => TESTS.has(name)));
  const isBound = command !== undefined || path !== undefined || Object.hasOwn(args as object, "");
  return (
    [fn, agent, run ?? "", path ?? ""].every(isText) &&
    (command === undefined || (Array.isArray(command) && command.every(isText))) &&
    isBound &&
    areTests &&
    Object.keys(more).length === 0
  );
}

const isBlock = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
