import { sha256Hex } from "../../lib/secrets/keyring.ts";
import type { InboundMessage } from "../model/inbound-message.ts";
import type { Queryable } from "../../core/store/db.ts";
import { findDeliveriesByThread, findDelivery, findDeliveryByHash, type Delivery } from "../store/deliveries.ts";

type Match = InboundMessage["match"];
type Naming = Exclude<Match, { thread: string } | { threads: unknown }>;

/** True where a received message names the message that it answers, and not only the place where it was written. */
export function isNamed(match: Match): match is Naming {
  return "delivery" in match || "token" in match || "messages" in match;
}

/** Returns the message that a received one names: of several that it follows, the nearest that is ours. */
export async function namedDelivery(on: Queryable, match: Naming): Promise<Delivery | undefined> {
  if ("delivery" in match) return findDelivery(on, match.delivery);
  if ("token" in match) return findDeliveryByHash(on, sha256Hex(match.token));
  for (const message of match.messages) {
    const [found] = await findDeliveriesByThread(on, message);
    if (found) return found;
  }
  return undefined;
}
