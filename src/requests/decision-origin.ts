import type { Context } from "../context.ts";
import type { Identity } from "../access/model/identity.ts";
import type { DecisionOrigin } from "../core/model/decision-origin.ts";
import { readerOf } from "./model/audience.ts";
import type { Delivery } from "./store/deliveries.ts";

/** Returns what the record and the receipt keep of a decision that answers a message, from an address where it has one. */
export function decisionOriginOf(
  ctx: Pick<Context, "keyring">,
  { id, askId }: Pick<Delivery, "id" | "askId">,
  from: Identity | null,
): DecisionOrigin {
  return { delivery: id, ...(from && { addressMac: addressMac(ctx, askId, from) }) };
}

/**
 * Returns an address as the record and receipts keep it: HMAC-SHA-256, under a key that is derived from the installation
 * key, of the ask's id and the address.
 *
 * A hash with a salt beside it would be undone by trying all phone numbers, by any agent that holds a receipt; this one
 * by nobody without the key file. The ask's id is the salt: nobody else can see that two decisions came from one address.
 */
export function addressMac({ keyring }: Pick<Context, "keyring">, askId: string, address: Identity): string {
  return keyring.mac("address", `${askId} ${readerOf(address)}`);
}
