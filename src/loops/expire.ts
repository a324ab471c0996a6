import type { Context } from "../context.ts";
import { findDueAddressed } from "../store/addressed-asks.ts";
import { findDueAsks } from "../store/asks.ts";
import { expireAddressed } from "../verbs/end-addressed.ts";
import { expireAsk } from "../verbs/expire-ask.ts";

const ASKS_PER_STEP = 100;

/** Settles asks whose deadline has passed, one transaction each; returns whether it found any. */
export async function expireDueAsks(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findDueAsks(ctx.db, ASKS_PER_STEP);
  // Those of one step ride one commit; each is still a transaction of its own.
  const settled = await Promise.all(due.map((id) => (signal.aborted ? undefined : expireAsk(ctx, id))));
  return settled.some((ask) => ask?.state === "expired");
}

/** The same for asks to people. */
export async function expireDueAddressed(ctx: Context, signal: AbortSignal): Promise<boolean> {
  const due = await findDueAddressed(ctx.db, ASKS_PER_STEP);
  const settled = await Promise.all(due.map((id) => (signal.aborted ? undefined : expireAddressed(ctx, id))));
  return settled.some((ask) => ask?.state === "expired");
}
