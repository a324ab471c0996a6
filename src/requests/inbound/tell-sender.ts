import { kindOf } from "../../channels/kinds.ts";
import type { Context } from "../../context.ts";
import type { InboundResult } from "../model/inbound-message.ts";
import type { NoteWords } from "../model/note-words.ts";
import { transact } from "../../core/store/transact.ts";
import { findRequest } from "../store/requests.ts";
import { insertDelivery, type Delivery } from "../store/deliveries.ts";

const TELLS_PER_HOUR = 3;

/** The recipient reads this: many people have several addresses, and their programs answer from any. */
export const FROM_ELSEWHERE =
  "A mail from another address than this one answered this message, and does not count. Answer from this address, on the page, or in the inbox.";

/** The recipient reads nothing about an answer that was taken, or about a stranger but for `FROM_ELSEWHERE`. */
const CONCERNS_RECIPIENT: ReadonlySet<InboundResult["kind"]> = new Set([
  "not_understood",
  "needs_page",
  "already_decided",
  "locked",
  "frozen",
]);

/** Sends the result of an answer as a message of its own, where the channel has no place for it in the reply. */
export async function tellSender(
  ctx: Context,
  delivery: Delivery,
  result: Pick<InboundResult, "kind" | "says">,
  note: NoteWords,
): Promise<void> {
  if (!kindOf(delivery.channel)?.sendsResult) return;
  if (!CONCERNS_RECIPIENT.has(result.kind) && result.says !== FROM_ELSEWHERE) return;
  await transact(ctx, async (tx) => {
    // Steps of a delivery's own: three words an hour and no more.
    const { now } = (await findRequest(tx, delivery.requestId)) ?? { now: 0 };
    const hour = Math.floor(now / 3_600_000);
    for (let i = 0; i < TELLS_PER_HOUR; i += 1) {
      const planned = await insertDelivery(tx, {
        id: ctx.newId("dlv"),
        requestId: delivery.requestId,
        kind: "tell",
        channel: delivery.channel,
        target: delivery.target,
        person: delivery.person,
        step: hour * TELLS_PER_HOUR + i,
        inMs: 0,
        words: JSON.stringify(note),
      });
      if (planned) break;
    }
  });
}
