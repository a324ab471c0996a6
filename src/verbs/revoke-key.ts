import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { type Key, revokeKey as revoke } from "../store/keys.ts";
import { transact } from "../store/transact.ts";

/** The key is refused from the next request on, by every server of the store. @throws {Refusal} `key_not_found` */
export async function revokeKey(ctx: Pick<Context, "db" | "wake">, id: string): Promise<Key> {
  return transact(ctx, async (tx) => {
    const key = await revoke(tx, id);
    if (!key) throw new Refusal("key_not_found", { id });
    return key;
  });
}
