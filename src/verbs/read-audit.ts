import type { Context } from "../context.ts";
import { listAudit, type AuditEntry, type AuditFilter } from "../store/audit.ts";

export type { AuditFilter } from "../store/audit.ts";

/** Returns one page of the record of who did what, oldest first, with the newest number and hash of the whole. */
export async function readAudit(
  ctx: Pick<Context, "db">,
  filter: AuditFilter,
): Promise<{ items: AuditEntry[]; hasMore: boolean; head: { seq: number; hash: string } }> {
  return listAudit(ctx.db, filter);
}
