import type { Context } from "../../context.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { transact } from "../../core/store/transact.ts";
import { Refusal } from "../../refusals.ts";
import { endHeldIfDue } from "../end/end.ts";
import type { Request } from "../model/request.ts";
import { lockRequest } from "../store/requests.ts";
import { undoPress } from "./presses.ts";

/**
 * Takes back what a person has pressed on these requests and what has not left yet. Returns the requests as they are
 * then, in the order of the ids, with whether each was taken back; one on which nothing is pressed stays as it is.
 *
 * @throws {Refusal} `request_not_found`
 */
export async function undoPresses(
  ctx: Context,
  { person, requestIds }: { person: string; requestIds: readonly RequestId[] },
): Promise<{ request: Request; isUndone: boolean }[]> {
  const after = new Map<RequestId, { request: Request; isUndone: boolean }>();
  await transact(ctx, async (tx) => {
    // In the order in which several decisions at once lock them.
    for (const requestId of [...requestIds].sort()) {
      const held = await lockRequest(tx, requestId);
      if (!held) throw new Refusal("request_not_found", { ask_id: requestId });
      const isLate = held.now >= held.request.expiresAt && !held.isFrozen;
      const request = isLate ? await endHeldIfDue(ctx, tx, held) : held.request;
      const undone = await undoPress(tx, request, person);
      after.set(requestId, { request: undone ?? request, isUndone: undone !== undefined });
    }
  });
  return requestIds.flatMap((id) => after.get(id) ?? []);
}
