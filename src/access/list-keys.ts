import type { Context } from "../context.ts";
import { type Key, listKeys as list } from "./store/keys.ts";

/** Returns every key there ever was, newest first; no key's text can be had again. */
export async function listKeys(ctx: Pick<Context, "db">): Promise<Key[]> {
  return list(ctx.db);
}
