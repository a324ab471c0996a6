import type { Context } from "../../context.ts";
import { storeNow } from "../../core/store-now.ts";
import { Refusal } from "../../refusals.ts";
import type { Request } from "../model/request.ts";
import { waitForRequest } from "../read/read-request.ts";

/** A little more than the time that is left, so that the deadline itself ends the wait. */
const MARGIN_MS = 5000;
/** For how long a store that is away is asked again, so that a decision that was stored is not lost. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1000;

/**
 * Waits for a request on behalf of whoever asked, whose lease is renewed meanwhile. Resolves with the request once it is
 * over, or as it is when the signal is aborted or the server stops.
 *
 * @throws {Refusal} `request_not_found`; `store_unavailable` for a store that was away for a minute
 */
export async function waitForEnd(ctx: Context, request: Request, signal: AbortSignal): Promise<Request> {
  if (request.state !== "open") return request;
  using _lease = ctx.openWaits.add(request.id);
  let awayAt: number | undefined;
  for (;;) {
    try {
      const waitMs = Math.max(0, request.expiresAt - (await storeNow(ctx.db))) + MARGIN_MS;
      return await waitForRequest(ctx, request.id, { waitMs, signal });
    } catch (error) {
      const now = ctx.clock.monotonic();
      awayAt ??= now;
      const isAway = error instanceof Refusal && error.code === "store_unavailable";
      if (!isAway || signal.aborted || ctx.stopping.aborted || now - awayAt >= PATIENCE_MS) throw error;
      await ctx.clock.sleep(PAUSE_MS, signal);
    }
  }
}
