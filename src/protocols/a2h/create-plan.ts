import type { Context } from "../../context.ts";
import { CanonicalJson, canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import type { Policy } from "../../policy/model/policy.ts";
import { bindCall } from "../../requests/model/bound-call.ts";
import { planRef } from "../../requests/model/plan.ts";
import type { Request } from "../../requests/model/request.ts";
import { createPlan } from "../../requests/plans/create-plan.ts";
import { refuseKeyAsName } from "../http/key-as-name.ts";
import type { Asker } from "./addressees.ts";
import { inquiriesOf, sameHashOf, timed } from "./create.ts";
import { DOOR } from "./written.ts";
import type { ReadPlan } from "./plan-specs.ts";

/**
 * Asks policy, and people for what it leaves to them, whether the calls of a plan may run in their order.
 *
 * @throws {Refusal} `key_required` for a credential as an id, `human_unknown`, `channel_not_found`, `scope_missing`,
 *   `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function askPlan(
  ctx: Context,
  policy: Policy,
  by: Asker,
  { plan, key }: { plan: ReadPlan; key: string | undefined },
): Promise<{ request: Request; replayed: boolean }> {
  const planId = plan.planId ?? (key === undefined ? ctx.newId("plan") : idOfKey(key));
  const { title, msg = "", calls, evidence, runId = planId } = plan;
  refuseKeyAsName(planId, runId, ...calls.map(({ callId }) => callId));
  const { title: _title, msg: _msg, state: _state, answers_inquiries: _answers, ...asked } = plan.echo;
  const named = [];
  for (const [i, { callId = `${planId}.${i + 1}`, fn, kwargs }] of calls.entries()) {
    const bound = bindCall(fn, kwargs);
    await yieldAfterLarge(bound.canonical);
    named.push({ callId, bound, spec: JSON.stringify({ fn, kwargs, ...asked }) });
  }
  const shown = named.map(({ callId, bound }) => ({
    call_id: callId,
    fn: bound.fn,
    kwargs: new CanonicalJson(bound.canonical),
  }));
  const sameHash = sameHashOf(ctx, plan, { run_id: runId, calls: shown, evidence });
  await yieldAfterLarge(sameHash);
  const usualSeconds = ctx.addressed.approvalTimeoutSeconds;
  return createPlan(ctx, policy, {
    ...(await timed(ctx, by, plan, { decides: "approval", usualSeconds })),
    asker: by.principal,
    ref: planRef(planId),
    words: msg,
    sameHash,
    ...(title !== undefined && { title }),
    evidence,
    calls: named.map(({ callId, bound, spec }) => ({
      door: DOOR,
      ref: `call:${callId}`,
      sameHash: sha256Digest(canonicalExact({ run_id: runId, plan: planId, digest: bound.digest })),
      bound,
      wire: { run_id: runId, call_id: callId, spec },
    })),
    wire: { run_id: runId, plan_id: planId, spec: JSON.stringify(plan.echo), ...inquiriesOf(plan) },
  });
}

/** One key of an agent is one plan. */
function idOfKey(key: string): string {
  return `key-${sha256Digest(key).slice("sha256:".length, "sha256:".length + 40)}`;
}
