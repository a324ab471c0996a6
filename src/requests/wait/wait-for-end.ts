import type { Context } from "../../context.ts";
import { readWhenBack } from "../../core/read-when-back.ts";
import { storeNow } from "../../core/store-now.ts";
import type { Request } from "../model/request.ts";
import { waitForRequest } from "../read/read-request.ts";

/** A little more than the time that is left, so that the deadline itself ends the wait. */
const MARGIN_MS = 5000;

/**
 * Waits for a request on behalf of whoever asked, whose lease is renewed meanwhile. Resolves with the request once it is
 * over, or as it is when the signal is aborted or the server stops.
 *
 * @throws {Refusal} `request_not_found`; `store_unavailable` for a store that was away for a minute
 */
export async function waitForEnd(ctx: Context, request: Request, signal: AbortSignal): Promise<Request> {
  if (request.state !== "open") return request;
  using _lease = ctx.openWaits.add(request.id);
  let read = request;
  // The lease lasts as long as the wait. A deadline that stands still comes later.
  do {
    const now = await readWhenBack(ctx, () => storeNow(ctx.db), { waitMs: Number.POSITIVE_INFINITY, signal });
    const waitMs = Math.max(0, read.expiresAt - now) + MARGIN_MS;
    read = await waitForRequest(ctx, request.id, { waitMs, signal });
  } while (read.state === "open" && !signal.aborted && !ctx.stopping.aborted);
  return read;
}
