import type { Context } from "../context.ts";
import type { Ask } from "../model/ask.ts";
import { Refusal } from "../refusals.ts";
import { lockAsk } from "../store/asks.ts";
import { transact } from "../store/transact.ts";
import { endAsk } from "./expire-ask.ts";

/**
 * Ends an asker's own ask if it is open; one that is settled is returned unchanged.
 *
 * @throws {Refusal} `ask_not_found` also for somebody else's
 */
export async function cancelAsk(ctx: Context, askId: string, asker: string): Promise<Ask> {
  return transact(ctx, async (tx) => {
    const held = await lockAsk(tx, askId);
    if (!held || held.ask.asker !== asker) throw new Refusal("ask_not_found", { question_id: askId });
    const { ask, now } = held;
    if (ask.state !== "open") return ask;
    if (now >= ask.expiresAt) return endAsk(tx, ask, "expired", ask.expiresAt, "clock");
    return endAsk(tx, ask, "cancelled", now, asker);
  });
}
