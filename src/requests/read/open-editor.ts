import { closingSentence, DECIDED_IN_INBOX, DECIDED_ELSEWHERE } from "../end/closing-sentence.ts";
import type { Context } from "../../context.ts";
import type { Decider } from "../model/request.ts";
import { viewOutside } from "../model/message-view.ts";
import type { RequestView } from "../model/view.ts";
import { isPostedAt, isReadByAsker, type SlackMessageRef } from "../model/carrier.ts";
import { inForce, isAsked } from "../model/audience.ts";
import { storeNow } from "../../core/store/db.ts";
import { findDelivery } from "../store/deliveries.ts";
import { readForPeople } from "./read-request.ts";
import { Refusal } from "../../refusals.ts";

/**
 * Returns what an editor is filled from that somebody opens under a message on Slack, or in one sentence why they get none.
 * Changes nothing; what they send is judged again.
 */
export async function openEditor(
  ctx: Context,
  { delivery: id, ...message }: SlackMessageRef & { delivery: string },
  responder: Decider,
): Promise<{ view: RequestView } | { refused: string }> {
  const delivery = await findDelivery(ctx.db, id);
  if (!delivery) return { refused: "This request is not here any more." };
  if (!isPostedAt(delivery, message)) return { refused: DECIDED_ELSEWHERE };
  if (isReadByAsker(delivery.target)) return { refused: DECIDED_IN_INBOX };
  try {
    const request = await readForPeople(ctx, delivery.requestId);
    if (request.state !== "open") return { refused: `This is over: ${await closingSentence(ctx.db, request)}` };
    const sinceMs = (await storeNow(ctx.db)) - request.createdAt;
    return isAsked(inForce(request.audience, ctx.addressed.groups), responder, request.form.kind, sinceMs)
      ? { view: viewOutside(request) }
      : { refused: "You were not asked." };
  } catch (error) {
    if (error instanceof Refusal && error.code === "request_not_found") {
      return { refused: "This request is not here any more." };
    }
    throw error;
  }
}
