import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";

/** For how long a store that is away is asked again: a primary and its standby change places in less. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1000;

/**
 * Reads for a wait that is under way. A store that is away is asked again once a second, so that the wait goes on behind
 * a fail-over, until `waitMs` are over, a minute has passed, or the wait is given up.
 *
 * @throws {Refusal} `store_unavailable`, and the read's own
 */
export async function readWhenBack<T>(
  ctx: Pick<Context, "clock" | "stopping">,
  read: () => Promise<T>,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<T> {
  const until = ctx.clock.monotonic() + Math.min(waitMs, PATIENCE_MS);
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isAway = error instanceof Refusal && error.code === "store_unavailable";
      const leftMs = until - ctx.clock.monotonic();
      if (!isAway || leftMs <= 0 || signal.aborted || ctx.stopping.aborted) throw error;
      await ctx.clock.sleep(Math.min(PAUSE_MS, leftMs), signal);
    }
  }
}
