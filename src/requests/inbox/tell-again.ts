import { type Context } from "../../context.ts";
import type { Tx } from "../../core/store/db.ts";
import { planDeliveries } from "../create/create-request.ts";
import { countOfTold, firstPlaceOfTold, MOST_TOLD } from "../model/hand-on.ts";
import type { Audience, Request } from "../model/request.ts";
import { insertRequestNotices } from "../store/device-notices.ts";
import { updateRequest } from "../store/requests.ts";

/**
 * Tells people of a locked, open request once more, on their channels with these words and on their devices. From the
 * 51st time on nobody is told. Returns the request as it is now.
 */
export async function tellAgain(
  ctx: Pick<Context, "newId" | "keyring">,
  tx: Tx,
  request: Request,
  { people, words }: { people: readonly string[]; words: string },
): Promise<Request> {
  const told = countOfTold(request);
  if (told < MOST_TOLD) {
    const node = (person: string): Audience => ({ kind: "leaf", target: { via: "person", person } });
    const audience: Audience = { kind: "any", of: people.map((person) => ({ afterMs: 0, node: node(person) })) };
    await planDeliveries(ctx, tx, { requestId: request.id, audience, firstStep: firstPlaceOfTold(told), words });
    await insertRequestNotices(tx, request.id, people, { inMs: 0, isAgain: true });
  }
  return updateRequest(tx, { ...request, wire: { ...request.wire, handOns: told + 1 } });
}
