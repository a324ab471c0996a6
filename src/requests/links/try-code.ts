import type { Context } from "../../context.ts";
import { giveBackTry, takeTryIfLeft, type Delivery } from "../store/deliveries.ts";
import { transact } from "../../core/store/transact.ts";
import { tokensOf } from "./delivery-tokens.ts";

/** Wrong codes after which a message's code and link are dead. */
const TRIES_MOST = 5;

/** True once wrong codes have locked a message. */
export function isLocked({ tries }: Delivery): boolean {
  return tries >= TRIES_MOST;
}

/**
 * Compares a code with a message's. The try is taken before anything is compared: however many guess at once, five are
 * looked at (spec/channels 3). No code at all is wrong, and costs nothing.
 */
export async function tryCode(
  ctx: Context,
  delivery: Delivery,
  given: string | undefined,
): Promise<"right" | "wrong" | "locked"> {
  if (isLocked(delivery)) return "locked";
  const code = given?.trim().toUpperCase();
  if (!code) return "wrong";
  return transact(ctx, async (tx) => {
    if (!(await takeTryIfLeft(tx, delivery.id, TRIES_MOST))) return "locked";
    if (code !== tokensOf(ctx, delivery.id).code) return "wrong";
    await giveBackTry(tx, delivery.id);
    return "right";
  });
}
