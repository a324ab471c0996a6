import type { RequestId } from "../../core/model/ids.ts";
import type { Tx } from "../../core/store/db.ts";
import { findFreeze } from "../../policy/store/freezes.ts";
import { lockRequest, type RequestAt } from "../store/requests.ts";

/** Holds the request whose decision an agent takes to the end of the transaction, and reads whether the agent is frozen by then. */
export async function lockForAgent(tx: Tx, requestId: RequestId): Promise<RequestAt | undefined> {
  const locked = await lockRequest(tx, requestId);
  if (!locked || locked.isFrozen || locked.request.outcome?.approved !== true) return locked;
  // On PostgreSQL the lock reads the freezes before it waits for the row.
  return { ...locked, isFrozen: (await findFreeze(tx, locked.request.asker)) !== undefined };
}
