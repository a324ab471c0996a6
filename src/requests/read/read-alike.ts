import type { Context } from "../../context.ts";
import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { patternsLike } from "../../policy/model/alike.ts";
import { type GrantPattern, readPattern } from "../../policy/model/pattern.ts";
import { holds } from "../../policy/model/policy.ts";
import { SeenValues } from "../../policy/model/seen-values.ts";
import { policyInputOfCall } from "../model/policy-call.ts";
import type { Request } from "../model/request.ts";
import { riskOf } from "../model/risk.ts";
import { listCallsOf } from "../store/recorded-calls.ts";
import { isCall, saidByPeople } from "./recorded-decision.ts";

const WEEK_MS = 7 * 86_400_000;
/** The newest calls of an agent that are looked at. */
const MOST_CALLS = 1000;

/** A pattern that an admin may allow beside one call, and what it would have covered. */
export interface AlikePattern {
  /** The digest of its conditions, by which a decision names it. */
  id: string;
  when: GrantPattern["when"];
  /** The calls of the same agent and function within the last seven days that it covers, at most 1,000. */
  covered: { calls: number; approved: number; rejected: number };
}

/**
 * Returns the patterns that an admin may allow beside a call, the narrowest first, at most three. The same call and the
 * same past give the same patterns.
 */
export async function readAlike({ db }: Pick<Context, "db">, request: Request): Promise<AlikePattern[]> {
  // A call that looks high is asked about each time, whatever covers it.
  if (!isCall(request) || request.wire["relay_ask"] !== undefined || riskOf(request) === "high") return [];
  const found = await listCallsOf(db, { asker: request.asker, sinceMs: WEEK_MS, limit: MOST_CALLS });
  const past = found
    .filter(isCall)
    .filter(({ id, form }) => id !== request.id && form.fn === request.form.fn)
    .map((one) => ({ input: policyInputOfCall(one), approved: saidByPeople(one) }));
  const approved = past.flatMap((one) => (one.approved === true ? [one.input] : []));
  return patternsLike(policyInputOfCall(request), new SeenValues(approved)).map((when) => {
    const { rule } = readPattern({ when });
    const covered = past.filter(({ input }) => holds(rule, input));
    const countOf = (said: boolean): number => covered.filter((one) => one.approved === said).length;
    return {
      id: sha256Digest(canonicalExact(when)),
      when,
      covered: { calls: covered.length, approved: countOf(true), rejected: countOf(false) },
    };
  });
}
