import type { RequestId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import { transact } from "../core/store/transact.ts";
import * as store from "./store/due.ts";

/** Keeps requests open for one more lease each, because somebody waits for them. */
export async function renewLeases(ctx: Context, requestIds: readonly RequestId[]): Promise<void> {
  await transact(ctx, (tx) => store.renewLeases(tx, requestIds));
}
