import { evaluate, withPreset, type Grant, type Policy, type PolicyInput, type PolicyVerdict } from "./model/policy.ts";
import { PolicyMistake } from "./model/check.ts";
import { parsePolicy } from "./model/text.ts";
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
export async function judge(on: Queryable, by: Judging, input: PolicyInput): Promise<PolicyVerdict> {
  const { policy, preset = null, grants = await readGrants(on, input) } = by;
  const say = (one: Policy): PolicyVerdict => {
    const own = evaluate(one, grants, input);
    return preset ? withPreset(own, preset, input) : own;
  };
  const verdict = say(policy);
  if (verdict.decision !== "ALLOW") return verdict;
  for (const { policyVersion, policy: text } of await findOtherPolicies(on, policy.policyVersion)) {
    const other = readOther(text);
    const theirs = other && say(other);
    const agrees = theirs?.decision === "ALLOW" && (theirs.matchedRule || !verdict.matchedRule);
    if (!agrees) return disputed(policy, verdict, { policyVersion, theirs });
  }
  return verdict;
}

/** A newer program may have written what this one does not know. */
function readOther(text: string): Policy | null {
  try {
    return parsePolicy(text);
  } catch (error) {
    if (error instanceof PolicyMistake) return null;
    throw error;
  }
}

/** People decide: whoever the other policy would ask, and as many of them. */
function disputed(
  policy: Policy,
  { trace, rules }: PolicyVerdict,
  { policyVersion, theirs }: { policyVersion: string; theirs: PolicyVerdict | null },
): PolicyVerdict {
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
    ...(theirs?.to !== undefined && { to: theirs.to }),
    need: theirs?.need ?? 1,
    standing: false,
    because: reason,
  };
}
