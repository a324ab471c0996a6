import { parsePolicy } from "../../src/policy/model/text.ts";
import { bindCall } from "../../src/requests/model/bound-call.ts";
import type { Audience, Request } from "../../src/requests/model/request.ts";
import { createPlan, type PlanInput } from "../../src/requests/plans/create-plan.ts";
import { fresh } from "../support/contract.ts";
import type { World } from "../support/world.ts";

type Called = readonly [fn: string, kwargs: Record<string, unknown>];

/** Puts a plan to people, as an agent's door does. */
export async function askPlan(
  { server: { ctx } }: World,
  audience: Audience,
  calls: readonly Called[],
  more: Partial<PlanInput> = {},
): Promise<Request> {
  const name = fresh("plan");
  const wire = { run_id: name, spec: "{}" };
  const input: PlanInput = {
    asker: "agent:archivist",
    ref: `plan:${name}`,
    sameHash: "same",
    words: "",
    audience,
    timeoutSeconds: 5400,
    wire: { ...wire, plan_id: name },
    evidence: [],
    calls: calls.map(([fn, kwargs], i) => ({
      door: "a2h",
      ref: `call:${name}.${i + 1}`,
      sameHash: "same",
      wire: { ...wire, call_id: `${name}.${i + 1}` },
      bound: bindCall(fn, kwargs),
    })),
    ...more,
  };
  return (await createPlan(ctx, parsePolicy("version: 1"), input)).request;
}
