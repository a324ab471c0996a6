import type { Context } from "../../context.ts";
import type { Decision, RefusedAnswer } from "../model/request.ts";
import { SENDER_RULES, type InboundMessage, type InboundResult } from "../model/inbound-message.ts";
import { decisionOfReply } from "../model/decision-of-reply.ts";
import { isReadByAsker } from "../model/carrier.ts";
import { DECIDED_IN_INBOX } from "../end/closing-sentence.ts";
import { tokensOf } from "../links/delivery-tokens.ts";
import { tryCode } from "../links/try-code.ts";
import { codeOf, type Matched } from "./match-message.ts";

/** A Message-ID is known to everybody who gets a reply to all: it proves nothing without a signature. */
const UNPROVED_BY_ID =
  "This mail names a message, but was not sent to its reply address, and nobody has signed that it was for us. Answer on the page.";

/** Returns the decision that a message states, or why it cannot be one. Never guesses. */
export async function meaningOf(
  ctx: Context,
  { request, delivery }: Matched,
  inbound: InboundMessage,
  link: string,
): Promise<{ decision: Decision } | InboundResult> {
  const decision = decisionOfReply(request, inbound, tokensOf(ctx, delivery.id).code);
  if (!decision) {
    const says =
      request.form.kind === "approval"
        ? "This was not understood. Answer with exactly “approve”, or “reject” and a reason."
        : "This was not understood.";
    return { kind: "not_understood", says, reason: "unparseable", link };
  }
  if (inbound.trust === "none" && !inbound.talk?.proved) {
    return { kind: "needs_page", says: UNPROVED_BY_ID, reason: "sender_unverified", link };
  }
  const isPress = "choice" in inbound.content;
  if (isReadByAsker(delivery.target) && (decision.kind === "approve" || !("text" in inbound.content)))
    return { kind: "needs_page", says: DECIDED_IN_INBOX, link };
  if (decision.kind === "approve") {
    const onPage = (says: string, reason?: RefusedAnswer["reason"]): InboundResult => ({
      kind: "needs_page",
      says,
      link,
      ...(reason && { reason }),
    });
    if (delivery.shownDigest === null) return onPage("The arguments are longer than fits here. Confirm on the page.");
    if (inbound.trust === "weak" || inbound.trust === "none")
      return onPage("Your address could not be verified. Confirm on the page.", "sender_unverified");
    const { approvesBy } = SENDER_RULES[inbound.sender.kind];
    if (approvesBy === "press" && !isPress) return onPage("To approve, please press the button.");
    if (approvesBy === "digest" && inbound.digest === undefined) {
      return onPage("An approval has to name the digest that was shown.", "digest_mismatch");
    }
    if (approvesBy === "code" && !isPress) {
      const tried = await tryCode(ctx, delivery, codeOf(inbound));
      if (tried === "locked") return { kind: "locked", says: "Too many wrong codes: confirm in the inbox." };
      if (tried === "wrong") {
        return onPage(
          "The code of the message is missing or wrong. Send YES and the code, or confirm on the page.",
          "code_missing",
        );
      }
    }
    return { decision: { ...decision, digest: inbound.digest ?? delivery.shownDigest } };
  }
  return { decision };
}
