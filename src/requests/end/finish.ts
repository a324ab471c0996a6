import type { Context } from "../../context.ts";
import type { Request } from "../model/request.ts";
import { Refusal } from "../../refusals.ts";
import type { Tx } from "../../core/store/db.ts";
import { closeRequestIn, type RequestEnd } from "./close.ts";

/** The parts of the context that the end of a request to people uses. */
export type Ending = Pick<Context, "requesters" | "openWaits" | "addressed">;

/**
 * Ends a held, open request, and does what that means to its owner, in the transaction under way. Every end that people, policy
 * and the clock make is here; an owner that ends its own uses `closeRequestIn`.
 *
 * @throws {Refusal} why its owner cannot take the outcome
 */
export async function finishRequest(ctx: Ending, tx: Tx, request: Request, end: RequestEnd): Promise<Request> {
  return closeRequestIn(tx, request, end, (over) => ctx.requesters.ofRequest(over).ended(tx, over));
}

/** Returns why a request that is over takes no decision, with how it ended. */
export function settledRefusal(request: Request): Refusal {
  const at = request.settledAt ?? request.createdAt;
  if (request.state === "expired") return new Refusal("request_expired", { resolved_at: at });
  if (request.state === "cancelled") return new Refusal("request_cancelled", { resolved_at: at });
  const { approved, by } = request.outcome ?? {};
  return new Refusal("already_decided", {
    responded_at: at,
    ...(approved !== undefined && { approved }),
    ...(by && { by: by.id, by_kind: by.kind }),
  });
}
