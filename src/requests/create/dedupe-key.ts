import type { Context } from "../../context.ts";
import type { Request } from "../model/request.ts";
import { Refusal } from "../../refusals.ts";
import { storeNow, type Tx } from "../../core/store/db.ts";
import { claimKey, keepReply, moveKey, releaseKey, type UsedKey } from "../../core/store/idempotency.ts";
import { transact } from "../../core/store/transact.ts";
import { isDue } from "../end/end.ts";
import { findByRef } from "../store/requests.ts";
import { DEDUPE_VERB as VERB } from "../store/tables.ts";

const DAY_MS = 86_400_000;

/** The facts by which a second request of a requester is the same as the first. */
export interface Joining {
  asker: string;
  key: string;
  /** A digest of the whole request: the same key with another body is refused. */
  bodyHash: string;
  timeoutSeconds: number;
  /** The id of a new request; left out, one is made. */
  freshId?: string;
  /** Set where the key names one use of a tool: a request that was decided longer ago belongs to an earlier use. */
  use?: { refOf: (id: string) => string; joinableMs: number };
}

/**
 * Returns the id under which a request is to be stored: a fresh one, or that of the same request made before. It stands
 * for a day and at least until the deadline, or until it is spent.
 *
 * Nothing else is stored: a process that ends after this finds the same id again, and stores the request then.
 *
 * @throws {Refusal} `idempotency_mismatch`
 */
export async function claimDedupeKey(ctx: Context, joining: Joining): Promise<string> {
  const { asker, key, bodyHash, timeoutSeconds } = joining;
  const fresh = joining.freshId ?? ctx.newId("call");
  return transact(ctx, async (tx) => {
    const claim = { principal: asker, verb: VERB, key, bodyHash, objectId: fresh };
    let used = await claimKey(tx, claim);
    if (used && (await isOfEarlierUse(ctx, tx, joining, used))) used = await moveKey(tx, claim, used.objectId);
    if (used && used.bodyHash !== bodyHash) throw new Refusal("idempotency_mismatch", { field: "idempotency_key" });
    if (used) return used.objectId;
    await keepReply(tx, claim, null, (await storeNow(tx)) + Math.max(0, timeoutSeconds * 1000 - DAY_MS));
    return fresh;
  });
}

/** True where the request of a key is over, and its decision is no longer waited for. */
async function isOfEarlierUse(
  ctx: Context,
  tx: Tx,
  { asker, freshId, use }: Joining,
  { objectId }: UsedKey,
): Promise<boolean> {
  const stored = use && objectId !== freshId ? await findByRef(tx, asker, use.refOf(objectId)) : undefined;
  if (!use || !stored) return false;
  const { request, now, isFrozen } = stored;
  // Nobody receives it meanwhile, and the thaw hands it out.
  if (isFrozen && request.outcome?.approved === true) return false;
  return request.state === "open" ? isDue(ctx, stored) : now >= (request.settledAt ?? now) + use.joinableMs;
}

/**
 * The outcome has reached its asker: the same request asks people again from now on. Nothing changes for one that came
 * with a key of its own, for which `key` is not given.
 */
export async function releaseDedupeKey(ctx: Context, request: Request, id: string, key: unknown): Promise<void> {
  if (request.state === "open" || typeof key !== "string") return;
  await transact(ctx, (tx) => releaseKey(tx, { principal: request.asker, verb: VERB, key, objectId: id }));
}
