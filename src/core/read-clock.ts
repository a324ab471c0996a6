import type { Context } from "../context.ts";
import { storeNow } from "./store/db.ts";

/** Returns the time of the clock that decides, epoch ms: a node's own may be wrong, and no rule goes by it. */
export function readClock(ctx: Pick<Context, "db">): Promise<number> {
  return storeNow(ctx.db);
}
