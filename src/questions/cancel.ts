import type { Context } from "../context.ts";
import type { Ask } from "./model/question.ts";
import { Refusal } from "../refusals.ts";
import { lockAsk } from "./store/questions.ts";
import { transact } from "../core/store/transact.ts";
import { cancelHeld } from "./expire.ts";

/**
 * Ends an asker's own ask if it is open; one that is settled is returned unchanged.
 *
 * @throws {Refusal} `ask_not_found` also for somebody else's
 */
export async function cancelAsk(ctx: Context, askId: string, asker: string): Promise<Ask> {
  return transact(ctx, async (tx) => {
    const held = await lockAsk(tx, askId);
    if (!held || held.ask.asker !== asker) throw new Refusal("ask_not_found", { question_id: askId });
    return held.ask.state === "open" ? cancelHeld(ctx, tx, held, asker) : held.ask;
  });
}
