import type { Ask } from "./ask.ts";
import { isDecision } from "./people.ts";

/** A decision that allows something, as its frozen asker may see it: it is pending. Anything else is as it is. */
export function shownToAsker<Held extends { ask: Ask; isFrozen: boolean }>(held: Held): Held {
  const isHeldBack = held.isFrozen && held.ask.status === "ANSWERED" && isDecision(held.ask);
  return isHeldBack ? { ...held, ask: { ...held.ask, status: "PENDING" } } : held;
}
