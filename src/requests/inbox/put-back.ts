import type { RequestId } from "../../core/model/ids.ts";
import type { Tx } from "../../core/store/db.ts";
import { deleteHandOnsWith } from "../store/hand-ons.ts";
import { deleteSnoozes } from "../store/snoozes.ts";

/**
 * Somebody has done their part of a request that stays open: it is neither aside for them nor in their hands any more.
 * Others who handed it to them alone have it again, because it may need them.
 */
export async function putBackInLists(tx: Tx, requestId: RequestId, person: string): Promise<void> {
  await deleteSnoozes(tx, requestId, person);
  await deleteHandOnsWith(tx, requestId, person);
}
