import type { Context } from "../context.ts";
import type { Policy } from "../policy/model/policy.ts";
import { isForPeople } from "../requests/create/request-call.ts";
import type { Audience, Request } from "../requests/model/request.ts";
import { createPlan, type PlannedCall, type PlanInput } from "../requests/plans/create-plan.ts";
import { callInputOf, findCall, type CallToAsk } from "./ask-call.ts";
import { functionOf } from "./model/gate-call.ts";
import { previewDigest, previewEvidence, type Preview, type PreviewWay } from "./model/preview.ts";

/** The calls that a gate's client sent together, in their order, and whom to ask about them. */
export interface GatePlanInput {
  asker: string;
  gate: string;
  /** One attempt's own text: the same attempt makes one plan. */
  run: string;
  audience: Audience;
  timeoutSeconds: number;
  calls: readonly CallToPlan[];
}

/** A call, and what it would change where its tool has a preview. */
export type CallToPlan = Pick<CallToAsk, "tool" | "args" | "isRepeatable"> & {
  shown?: { preview: Preview; way: PreviewWay };
};

const LEAST_CALLS = 2;

/**
 * Puts the calls to people as one plan; each of them then waits in it for `askCall`, which starts it in its turn. Left out
 * are those that a rule or a permission decides, those that wait already or have no known end, and repetitions. Returns
 * nothing where fewer than two are left: each call is then asked about alone.
 *
 * @throws {Refusal} `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function planCalls(ctx: Context, policy: Policy, input: GatePlanInput): Promise<Request | null> {
  const planned = new Map<string, PlannedCall>();
  for (const call of input.calls) {
    const { wanted, request } = await findCall(ctx, toAsk(input, call));
    if (request || wanted.unknown || planned.has(wanted.sameHash)) continue;
    const asked = callInputOf(ctx, policy, wanted);
    if (await isForPeople(ctx, policy, asked)) planned.set(wanted.sameHash, asked);
  }
  if (planned.size < LEAST_CALLS) return null;
  return store(ctx, policy, input, { calls: [...planned.values()], evidence: [] });
}

/**
 * Puts one call to people as a plan, with its targets as evidence: they are part of what is approved. Returns nothing
 * where the call waits already, or a rule or a permission decides it.
 *
 * @throws {Refusal} `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function planPreviewed(
  ctx: Context,
  policy: Policy,
  input: Omit<GatePlanInput, "calls">,
  call: CallToPlan & Required<Pick<CallToPlan, "shown">>,
): Promise<Request | null> {
  const { wanted, request } = await findCall(ctx, toAsk(input, call));
  if (request) return null;
  const { preview, way } = call.shown;
  const asked = callInputOf(ctx, policy, { ...wanted, preview: { digest: previewDigest(preview), way } });
  const { forPeople = false, title } = asked;
  if (!forPeople && !(await isForPeople(ctx, policy, asked))) return null;
  const fn = functionOf({ gate: input.gate, tool: call.tool });
  return store(ctx, policy, input, { title, forPeople, calls: [asked], evidence: previewEvidence(fn, preview) });
}

function toAsk(input: Omit<GatePlanInput, "calls">, { tool, args, isRepeatable }: CallToPlan): CallToAsk {
  const { asker, gate, audience, timeoutSeconds } = input;
  return { asker, gate, tool, args, audience, timeoutSeconds, isRepeatable, schema: null, wire: {} };
}

async function store(
  ctx: Context,
  policy: Policy,
  { asker, run, audience, timeoutSeconds }: Omit<GatePlanInput, "calls">,
  plan: Pick<PlanInput, "title" | "calls" | "evidence" | "forPeople">,
): Promise<Request> {
  const { request } = await createPlan(ctx, policy, {
    ...plan,
    asker,
    // The A2H door reads plans by another beginning: no use of it takes a call from the gate.
    ref: `gate-plan:${run}`,
    sameHash: plan.calls.map(({ sameHash }) => sameHash).join(" "),
    words: "",
    audience,
    timeoutSeconds,
    wire: {},
  });
  return request;
}
