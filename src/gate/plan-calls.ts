import type { Context } from "../context.ts";
import type { Policy } from "../policy/model/policy.ts";
import { isForPeople } from "../requests/create/request-call.ts";
import { bindCall } from "../requests/model/bound-call.ts";
import type { Audience, Request } from "../requests/model/request.ts";
import { createPlan, type PlannedCall } from "../requests/plans/create-plan.ts";
import { callInputOf, type CallToAsk } from "./ask-call.ts";
import { functionOf, sameHashOf } from "./model/gate-call.ts";
import { findSameCalls } from "./store/gate-calls.ts";

/** The calls that a gate's client sent together, in their order, and whom to ask about them. */
export interface GatePlanInput {
  asker: string;
  gate: string;
  /** One attempt's own text: the same attempt makes one plan. */
  run: string;
  audience: Audience;
  timeoutSeconds: number;
  calls: readonly Pick<CallToAsk, "tool" | "args" | "isRepeatable">[];
}

const LEAST_CALLS = 2;

/**
 * Puts the calls to people as one plan; each of them then waits in it for `askCall`, which starts it in its turn. Left out
 * are those that a rule or a permission decides, those that wait already or have no known end, and repetitions. Returns
 * nothing where fewer than two are left: each call is then asked about alone.
 *
 * @throws {Refusal} `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function planCalls(ctx: Context, policy: Policy, input: GatePlanInput): Promise<Request | null> {
  const { asker, gate, run, audience, timeoutSeconds } = input;
  const planned = new Map<string, PlannedCall>();
  for (const { tool, args, isRepeatable } of input.calls) {
    const bound = bindCall(functionOf({ gate, tool }), args);
    const sameHash = sameHashOf({ asker, gate, tool, args: bound.canonical });
    if (planned.has(sameHash) || (await findSameCalls(ctx.db, asker, sameHash)).length > 0) continue;
    const toAsk = { asker, gate, tool, args, audience, timeoutSeconds, isRepeatable, schema: null, wire: {} };
    const call = callInputOf(ctx, policy, { input: toAsk, bound, sameHash, unknown: null });
    if (await isForPeople(ctx, policy, call)) planned.set(sameHash, call);
  }
  if (planned.size < LEAST_CALLS) return null;
  const { request } = await createPlan(ctx, policy, {
    asker,
    // The A2H door reads plans by another beginning: no use of it takes a call from the gate.
    ref: `gate-plan:${run}`,
    sameHash: [...planned.keys()].join(" "),
    words: "",
    audience,
    timeoutSeconds,
    evidence: [],
    calls: [...planned.values()],
    wire: {},
  });
  return request;
}
