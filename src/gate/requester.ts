import type { Requester } from "../requester.ts";
import { boundDigest, functionOf, type NewGateCall } from "./model/gate-call.ts";
import type { PreviewWay } from "./model/preview.ts";
import { insertGateCall } from "./store/gate-calls.ts";
import type { Request } from "../requests/model/request.ts";

/** The part of a request that describes its gated call, in a form that only its door understands. */
export interface GateWire {
  gate: {
    name: string;
    tool: string;
    same_hash: string;
    policy_version: string;
    /** The request's own time, and how long what is approved is good after it. */
    good_for_ms: number;
    repeatable: boolean;
    again_of: string | null;
    /** The preview that people saw, and how it is made again. */
    preview?: { digest: string; way: PreviewWay };
  };
  /** The gate's own rows say what became of the call, which starts so long after the request's own time or not at all. */
  reports: "door";
  starts_after_ms: number;
}

/** `agent` that asks through a gate: with each request stands the one call that may run once it is approved. */
export function gateRequester(agent: Requester): Requester {
  return {
    ...agent,
    async stored(tx, request) {
      // People are asked about a plan by the request of the plan.
      if (request.plan === undefined) await agent.stored?.(tx, request);
      await insertGateCall(tx, callOf(request));
    },
  };
}

/** Returns the preview that people approved with the call, if there was one. */
export function approvedPreview({ wire }: Pick<Request, "wire">): GateWire["gate"]["preview"] {
  return (wire as unknown as GateWire).gate.preview;
}

function callOf(request: Request): NewGateCall {
  const { gate } = request.wire as unknown as GateWire;
  const bound = {
    asker: request.asker,
    gate: gate.name,
    tool: gate.tool,
    policyVersion: gate.policy_version,
    goodUntil: request.createdAt + gate.good_for_ms,
  };
  return {
    ...bound,
    requestId: request.id,
    sameHash: gate.same_hash,
    digest: digestFor(request, bound),
    isRepeatable: gate.repeatable,
    againOf: gate.again_of,
  };
}

/** Returns what an approval of this request is bound to. */
export function digestFor(
  request: Pick<Request, "digest">,
  bound: Omit<Parameters<typeof boundDigest>[0], "consent">,
): string {
  if (request.digest === null) throw new Error(`${functionOf(bound)} was asked without a digest`);
  return boundDigest({ ...bound, consent: request.digest });
}
