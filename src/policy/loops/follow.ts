import type { Context } from "../../context.ts";
import { findPolicyReloads } from "../store/learning.ts";

/**
 * Returns a step that reads the policy file again once somebody asked for it on any server (`parley policy reload`).
 */
export function openFollowPolicy(ctx: Pick<Context, "db">, file: { reload(): Promise<void> }): () => Promise<void> {
  // The last number seen; losing it costs one needless look at the file.
  let seen: number | null = null;

  return async () => {
    const number = await findPolicyReloads(ctx.db);
    if (number !== seen) await file.reload();
    seen = number;
  };
}
