import { refuseFields } from "../../../core/model/field-problem.ts";
import type { InboxDecisionBody } from "../../../wire/inbox.ts";

/** Returns how many calls of a plan are approved, where the decision says so. @throws {Refusal} `invalid_input` */
export function approvedCallsOf(
  calls: number | undefined,
  { approved, approved_calls: upTo }: InboxDecisionBody,
): number | undefined {
  if (upTo === undefined) return undefined;
  const refuse = (says: string, constraint: string) =>
    refuseFields([{ message: `approved_calls ${says}`, field: "approved_calls", constraint }]);
  if (calls === undefined) throw refuse("is for a plan", "excluded");
  if (upTo > calls) throw refuse(`must be at most ${calls}`, "range");
  if (!approved && upTo > 0) throw refuse("goes with an approval", "excluded");
  return upTo;
}
