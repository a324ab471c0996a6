import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { transact } from "../../core/store/transact.ts";
import { finishRequest } from "./finish.ts";
import { lockRequest } from "../store/requests.ts";

/**
 * Closes a request everywhere whose answer nobody waits for any more: what it stands for is over, or went on without it.
 * Nobody decided it. One that is wanted stays as it is.
 */
export async function closeUnwanted(ctx: Context, requestId: RequestId): Promise<void> {
  await transact(ctx, async (tx) => {
    const held = await lockRequest(tx, requestId);
    if (held?.request.state !== "open" || (await ctx.requesters.ofRequest(held.request).isWanted(tx, held.request)))
      return;
    const approved = held.request.form.kind === "approval" ? { approved: false } : {};
    const how = { by: { kind: "server", id: held.request.door }, action: "cancelled" } as const;
    await finishRequest(ctx, tx, held.request, { outcome: { status: "cancelled", ...approved }, at: held.now, ...how });
  });
}
