import type { ReadPlanCall } from "../../requests/plans/read-plan.ts";
import type { UsedCall } from "../../requests/plans/use-call.ts";
import type { RequestDetails } from "../../requests/read/read-request.ts";
import { approvedCalls, callIdOf } from "../../requests/model/plan.ts";
import type { Request } from "../../requests/model/request.ts";
import type { WirePlan, WirePlanUse } from "../../wire/a2h/plan.ts";
import { given } from "./fields.ts";
import { callStatusOf, wireTime } from "./print.ts";

/** Returns a plan as JSON text; `state` stands in it as it came (spec/a2h 22). */
export function printPlan(plan: Request, calls: readonly ReadPlanCall[], details: RequestDetails): string {
  const { run_id, plan_id, spec } = plan.wire as Readonly<Record<string, string>>;
  const head: Omit<WirePlan, "spec" | "status"> = {
    plan_id: plan_id ?? "",
    run_id: run_id ?? "",
    call_ids: calls.map(callIdOf),
    calls: calls.map(printCall),
  };
  const approved = plan.state === "answered" ? { approved_calls: approvedCalls(plan) } : {};
  const status = { ...callStatusOf(plan, details), ...approved };
  return `${JSON.stringify(head).slice(0, -1)},"spec":${spec ?? "{}"},"status":${JSON.stringify(status)}}`;
}

function printCall(call: ReadPlanCall): WirePlan["calls"][number] {
  const { outcome, usedAt } = call;
  return given({
    call_id: callIdOf(call),
    ask_id: call.requestId,
    ord: call.ord,
    fn: call.fn,
    consent_digest: call.digest,
    approved: outcome?.approved,
    comment: outcome?.comment,
    used_at: usedAt === null ? undefined : wireTime(usedAt),
  });
}

export function printUse(plan: Request, { call }: UsedCall): WirePlanUse {
  return {
    plan_id: String(plan.wire["plan_id"]),
    call_id: callIdOf(call),
    ask_id: call.requestId,
    ord: call.ord,
    used_at: wireTime(call.usedAt),
  };
}
