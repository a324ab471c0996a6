import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import { type Key, revokeKey as revoke } from "./store/keys.ts";
import { transact } from "../core/store/transact.ts";
import { whatOf } from "./create-key.ts";

/**
 * Revokes the key: every server of the store refuses it from the next request on. The record names the person who
 * revoked it, where one is given.
 *
 * @throws {Refusal} `key_not_found`
 */
export async function revokeKey(ctx: Pick<Context, "db" | "wake">, id: string, by?: Actor): Promise<Key> {
  return transact(ctx, async (tx) => {
    const key = await revoke(tx, id);
    if (!key) throw new Refusal("key_not_found", { id });
    if (by) await appendAudit(tx, { actor: by, action: "key.deleted", data: whatOf(key) });
    return key;
  });
}
