import { findHuman } from "../../access/store/humans.ts";
import type { Context } from "../../context.ts";
import type { Queryable } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { leafOf, planNextChannel, stepOfStandIn } from "../create/create-request.ts";
import { standInFor } from "../inbox/away.ts";
import { leavesOf, inForce, isNamed } from "../model/audience.ts";
import { isPlaceOfTold } from "../model/hand-on.ts";
import type { Decider } from "../model/request.ts";
import { listDeliveries, updateDelivery, type Delivery } from "../store/deliveries.ts";
import { lockRequest, type RequestAt } from "../store/requests.ts";

/**
 * A message to somebody who is away goes to their stand-in, if the stand-in may decide the request; it is not sent a
 * second time to a stand-in who is told anyway. Returns whether that is so.
 */
export async function passToStandIn(ctx: Context, delivery: Delivery, found: RequestAt): Promise<boolean> {
  const { person, requestId, step, words, kind } = delivery;
  if (person === null || kind === "tell" || isPlaceOfTold(leafOf(step))) return false;
  const standIn = await standInFor(ctx, found, person);
  if (!standIn) return false;
  await transact(ctx, async (tx) => {
    // Messages to two absent people may be due at once, and their stand-in is told by one of them.
    await lockRequest(tx, requestId);
    if (!(await updateDelivery(tx, delivery, { state: "skipped" }))) return;
    if (isToldAtAnAddress(ctx, found, standIn, delivery) || (await isTold(tx, standIn.person, delivery))) return;
    const human = await findHuman(tx, standIn.person);
    const next = { requestId, step: stepOfStandIn(step), from: 0, inMs: 0, kind, ...(words !== null && { words }) };
    if (human) await planNextChannel(ctx, tx, { ...next, human });
  });
  return true;
}

/** True where the same message goes to the stand-in at an address that the audience names. */
function isToldAtAnAddress(
  ctx: Pick<Context, "addressed">,
  { request, now }: RequestAt,
  standIn: Decider,
  { kind, words }: Delivery,
): boolean {
  if (kind !== "ask" || words !== null) return false;
  return leavesOf(inForce(request.audience, ctx.addressed.groups)).some(
    ({ target, afterMs }) =>
      target.via !== "inbox" && afterMs <= now - request.createdAt && isNamed(target, standIn, request.form.kind),
  );
}

async function isTold(on: Queryable, standIn: string, { id, requestId, kind, words }: Delivery): Promise<boolean> {
  return (await listDeliveries(on, requestId)).some(
    (one) =>
      one.id !== id &&
      one.person === standIn &&
      one.kind === kind &&
      one.words === words &&
      one.state !== "skipped" &&
      one.state !== "failed",
  );
}
