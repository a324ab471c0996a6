import type { Context } from "../context.ts";
import { findBrokenAudit, listAudit } from "./store/audit.ts";
import { sealForReader } from "./seal-record.ts";

/**
 * Returns whether every entry of the record follows from the one before it, and else the first that does not; and how
 * many are not in the chain yet, of which this says nothing. Looks at the whole record, a page at a time.
 */
export async function verifyAudit(
  ctx: Pick<Context, "db">,
): Promise<{ entries: number; brokenAt: number | null; unsealed: number }> {
  await sealForReader(ctx);
  const brokenAt = (await findBrokenAudit(ctx.db)) ?? null;
  const { head, unsealed } = await listAudit(ctx.db, { afterSeq: Number.MAX_SAFE_INTEGER, limit: 1 });
  return { entries: head.seq, brokenAt, unsealed };
}
