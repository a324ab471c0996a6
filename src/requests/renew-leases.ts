import type { Context } from "../context.ts";
import { transact } from "../core/store/transact.ts";
import * as store from "./store/due.ts";

/** Keeps requests open for one more lease each, because somebody waits for them. */
export async function renewLeases(ctx: Context, askIds: readonly string[]): Promise<void> {
  await transact(ctx, (tx) => store.renewLeases(tx, askIds));
}
