import { openReceipt, type Receipt } from "../../lib/receipt.ts";
import type { Identity } from "../../access/model/identity.ts";
import { addressMac } from "../../requests/decide/decision-origin.ts";
import { readReceiptKeys } from "../../requests/read/read-receipt.ts";
import type { Io, StorePlace } from "../command.ts";
import { withStore } from "../command-store.ts";
import type { KnownKeys } from "./source.ts";

/** Opens a receipt by the keys of the store, and returns with it how it would tell an address. */
export async function openByStore(
  jws: string,
  address: Identity,
  place: StorePlace,
  io: Io,
): Promise<{ receipt: Receipt | null; mac: string; keys: KnownKeys }> {
  return withStore(place, io, async (ctx) => {
    const set = await readReceiptKeys(ctx);
    const receipt = await openReceipt(jws, set);
    return { receipt, mac: addressMac(ctx, receipt?.jti ?? "", address), keys: { set, from: "this machine's store" } };
  });
}
