import { storeNow } from "../../../core/store-now.ts";
import type { Context } from "../../../context.ts";
import { readDetails, readForPeople } from "../../../requests/read/read-request.ts";
import type { WireAskToPeople } from "../../../wire/inbox.ts";
import { wholeRequest, type WithArguments } from "./wire.ts";

/** Nobody: whoever looks on is asked for nothing. */
const ONLOOKER = { via: "web", person: null, identities: [], seesAll: false } as const;

/** Returns a request to people as it is shown to somebody who is not asked. */
export async function showToOnlooker(ctx: Context, requestId: string): Promise<WithArguments<WireAskToPeople>> {
  const request = await readForPeople(ctx, requestId);
  const details = await readDetails(ctx, request);
  return wholeRequest(request, details, { who: ONLOOKER, now: await storeNow(ctx.db), language: "en" });
}
