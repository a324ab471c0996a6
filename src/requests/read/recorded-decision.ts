import type { PolicyCall } from "../model/policy-call.ts";
import type { Request } from "../model/request.ts";

/** A request about a function call. */
export type RecordedCall = Request & PolicyCall;

export function isCall(request: Request): request is RecordedCall {
  return request.form.kind === "approval";
}

/** Returns what people decided; null where they did not, or a rule or a permission did. */
export function saidByPeople({ outcome }: Request): boolean | null {
  if (outcome?.status !== "answered" || outcome.trace) return null;
  return outcome.approved ?? null;
}
