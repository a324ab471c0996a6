import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import type { Identity } from "../../access/model/identity.ts";
import type { DecisionOrigin } from "../../core/model/decision-origin.ts";
import { readerOf } from "../model/audience.ts";
import type { Delivery } from "../store/deliveries.ts";

/** Returns what the record and the receipt keep of a decision that answers a message, from an address where it has one. */
export function decisionOriginOf(
  ctx: Pick<Context, "keyring">,
  { id, requestId }: Pick<Delivery, "id" | "requestId">,
  from: Identity | null,
): DecisionOrigin {
  return { delivery: id, ...(from && { addressMac: addressMac(ctx, requestId, from) }) };
}

/**
 * Returns an address as the record and receipts keep it: HMAC-SHA-256, under a key that is derived from the installation
 * key, of the request's id and the address.
 *
 * A hash with a salt beside it would be undone by trying all phone numbers, by any agent that holds a receipt; this one
 * by nobody without the key file. The request's id is the salt: nobody else can see that two decisions came from one address.
 */
export function addressMac({ keyring }: Pick<Context, "keyring">, requestId: RequestId, address: Identity): string {
  return keyring.mac("address", `${requestId} ${readerOf(address)}`);
}
