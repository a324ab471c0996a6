import {
  evaluate,
  withPreset,
  type Grant,
  type Policy,
  type PolicyInput,
  type PolicyDecision,
} from "./model/policy.ts";
import { PolicyMistake } from "./model/check.ts";
import { loadPolicy } from "./model/text.ts";
import type { Queryable } from "../core/store/db.ts";
import { readGrants } from "./grants.ts";
import { findOtherPolicies } from "./store/servers.ts";

/** The policy and the grants that an input is judged by. */
export interface Judging {
  /** This server's. */
  policy: Policy;
  /** The policy that decides where the first has no rule; coding agents have one. */
  preset?: Policy | null;
  /** Those that speak of the input; else they are read. */
  grants?: readonly Grant[];
}

/**
 * Returns what is decided of an input: by this server's policy and what the store allows. An ALLOW counts only if every
 * running server's policy says so too; else people are asked, whatever else the two say (spec/relay 8).
 */
export async function judge(on: Queryable, by: Judging, input: PolicyInput): Promise<PolicyDecision> {
  const { policy, preset = null, grants = await readGrants(on, input) } = by;
  const say = (one: Policy): PolicyDecision => {
    const own = evaluate(one, grants, input);
    return preset ? withPreset(own, preset, input) : own;
  };
  const policyDecision = say(policy);
  if (policyDecision.decision !== "ALLOW") return policyDecision;
  for (const { policyVersion, policy: text } of await findOtherPolicies(on, policy.policyVersion)) {
    const other = await readOther(text);
    const theirs = other && say(other);
    const agrees =
      theirs?.decision === "ALLOW" &&
      (theirs.matchedRule || !policyDecision.matchedRule) &&
      allowsAsMuch(theirs, policyDecision);
    if (!agrees) return disputed(policy, policyDecision, { policyVersion, theirs });
  }
  return policyDecision;
}

/** Returns the policy without the rule at this place of the file: its allowance is used up. */
export function withoutRule(policy: Policy, place: number | undefined): Policy {
  return { ...policy, rules: policy.rules.filter(({ index }) => index !== place) };
}

/** One allowance is counted: this server's. Another one may be smaller. */
function allowsAsMuch({ countedAs: theirs }: PolicyDecision, { countedAs: own }: PolicyDecision): boolean {
  if (!theirs || !("rule" in theirs) || !theirs.spending) return true;
  return JSON.stringify(theirs) === JSON.stringify(own);
}

/** A newer program may have written what this one does not know. */
async function readOther(text: string): Promise<Policy | null> {
  try {
    return await loadPolicy(text);
  } catch (error) {
    if (error instanceof PolicyMistake) return null;
    throw error;
  }
}

/** Returns that people decide: those whom the other policy would ask, and as many of them. */
function disputed(
  policy: Policy,
  { trace, rules, risk, observed }: PolicyDecision,
  { policyVersion, theirs }: { policyVersion: string; theirs: PolicyDecision | null },
): PolicyDecision {
  const reason = `another server goes by policy ${policyVersion}, which does not allow it`;
  const { rule_index: _, ...rest } = trace;
  return {
    decision: "ESCALATE",
    trace: {
      ...rest,
      policy: `${policy.name}@v${policy.version}`,
      decision: "ESCALATE",
      reason,
      defaulted: false,
      grant: null,
    },
    matchedRule: true,
    rules,
    countedAs: null,
    ...(observed && { observed }),
    ...(theirs?.to !== undefined && { to: theirs.to }),
    need: theirs?.need ?? 1,
    isGrantable: false,
    ...(risk && { risk }),
    because: reason,
  };
}
