import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { mayGrant, type PolicyClass } from "./policy.ts";
import type { WrittenRule } from "./text.ts";

const ID_DIGITS = 8;

/** Returns the name of a class: the same for equal classes, and for no others. */
export function classKeyOf({ action, resource, env, tool, repo, agent, digest }: PolicyClass): string {
  const call = digest === undefined ? [] : [digest];
  return sha256Digest(canonicalExact([action, resource, env, tool, repo, agent, ...call])).slice("sha256:".length);
}

/** Returns the name under which the patterns for an agent and a function are found; it is the name of no class. */
export function patternKeyOf({ action, agent }: Pick<PolicyClass, "action" | "agent">): string {
  return sha256Digest(canonicalExact(["pattern", action, agent])).slice("sha256:".length);
}

/**
 * Returns the rule that allows exactly one class, or null where no rule can: one that names no action is about anything,
 * and a star in what an agent wrote would stand for anything.
 */
export function learnedRule(one: PolicyClass, approvals: number): WrittenRule | null {
  const { action, resource, env, tool, repo, agent } = one;
  const when = { action, resource, env, tool, repo, agent };
  const values = Object.values(when).filter((value) => value !== null);
  if (!mayGrant(one) || values.some((value) => value.includes("*") || value.length > MAX_VALUE_CHARS)) return null;
  return {
    id: `learned-${classKeyOf(one).slice(0, ID_DIGITS)}`,
    when,
    decision: "ALLOW",
    reason: `People approved this ${approvals} times, and an admin made a rule of it`,
  };
}

/** A rule's value has at most so many characters. */
const MAX_VALUE_CHARS = 512;
