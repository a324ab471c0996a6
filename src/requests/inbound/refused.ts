import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { closingSentence } from "../end/closing-sentence.ts";
import type { Decider, RefusedAnswer, Request } from "../model/request.ts";
import type { InboundMessage, InboundResult } from "../model/inbound-message.ts";
import type { Refusal } from "../../refusals.ts";
import type { Queryable } from "../../core/store/db.ts";
import { findRequest } from "../store/requests.ts";
import { noteRefusedAnswer } from "../decide/decide.ts";

/** Keeps the words of people who were not asked from the agent (spec/a2h 5.5). */
export async function refuseStranger(
  ctx: Context,
  requestId: RequestId,
  { via }: Pick<Decider, "via">,
): Promise<InboundResult> {
  const reason = "responder_not_allowed";
  await noteRefusedAnswer(ctx, requestId, { via, person: null, identities: [] }, { reason });
  return { kind: "not_allowed", says: "You were not asked.", reason };
}

/** Returns what the sender of a refused answer reads, and keeps the refusal with the request. */
export async function refusalResult(
  ctx: Context,
  of: { request: Request; responder: Decider; inbound: InboundMessage; link: string },
  refusal: Refusal,
): Promise<InboundResult> {
  const { request, responder, inbound, link } = of;
  const { code } = refusal;
  if (code === "already_decided" || code === "request_expired" || code === "request_cancelled") {
    const now = await findRequest(ctx.db, request.id);
    return existingResult(ctx.db, now?.request ?? request);
  }
  if (code === "not_asked" || code === "self_response") return refuseStranger(ctx, request.id, responder);
  if (code === "not_counted") {
    await noteRefusedAnswer(ctx, request.id, responder, { reason: "responder_not_allowed" });
    return { kind: "not_allowed", says: refusal.message, reason: "responder_not_allowed" };
  }
  if (code === "unknown_option") {
    const options = refusal.details["options"] as readonly string[];
    const { content } = inbound;
    const input =
      "text" in content
        ? content.text
        : "choice" in content && "name" in content.choice
          ? content.choice.name
          : undefined;
    await noteRefusedAnswer(ctx, request.id, responder, { reason: code, ...(input !== undefined && { input }) });
    return { kind: "not_understood", says: refusal.message, reason: code, options, link };
  }
  if (code === "answer_misfit") {
    const errors = refusal.details["errors"] as NonNullable<RefusedAnswer["errors"]>;
    const input = "text" in inbound.content ? inbound.content.text : undefined;
    await noteRefusedAnswer(ctx, request.id, responder, {
      reason: "schema",
      ...(input !== undefined && { input }),
      errors,
    });
    const wrong = errors.map(({ path, message }) => `${path || "the answer"} ${message}`).join("; ");
    return { kind: "not_understood", says: `This does not fit: ${wrong}.`, reason: "schema", link };
  }
  if (code === "digest_mismatch") {
    await noteRefusedAnswer(ctx, request.id, responder, { reason: "digest_mismatch" });
    return { kind: "needs_page", says: refusal.message, reason: "digest_mismatch", link };
  }
  if (code === "frozen") return { kind: "needs_page", says: refusal.message, link };
  return { kind: "not_understood", says: refusal.message, reason: "unparseable", link };
}

/** Returns how a request that is over ended, in words for somebody who comes late. */
export async function existingResult(on: Queryable, request: Request): Promise<InboundResult> {
  return { kind: "already_decided", says: `This is over: ${await closingSentence(on, request)}` };
}
