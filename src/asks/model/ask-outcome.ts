import { type CallOutcome, dueOutcome, unreportedOutcome } from "../../requests/model/call-outcome.ts";
import type { Ask, AskAnswer } from "./ask.ts";
import { allowsCall } from "./people.ts";

/**
 * Returns at a time what became of the call that an ask allowed without a request to people, from the stored outcome;
 * null for an ask that allows none.
 */
export function ownOutcomeAt(
  ask: Pick<Ask, "type" | "reports">,
  answer: Pick<AskAnswer, "status" | "json" | "createdAt">,
  stored: CallOutcome | undefined,
  at: { now: number; isFrozen: boolean },
): CallOutcome | null {
  if (!allowsCall(ask, answer)) return null;
  return dueOutcome(ask.reports ?? "none", stored ?? unreportedOutcome(answer.createdAt), at);
}
