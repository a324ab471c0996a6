import type { Context } from "../context.ts";
import { type AuditFilter, type AuditPage, listAudit } from "./store/audit.ts";
import { sealForReader } from "./seal-record.ts";

export type { AuditFilter, AuditPage } from "./store/audit.ts";

/**
 * Returns one page of the record of who did what, oldest first, with the newest number and hash of the whole, and how
 * much has committed that is not in the chain yet.
 */
export async function readAudit(ctx: Pick<Context, "db">, filter: AuditFilter): Promise<AuditPage> {
  await sealForReader(ctx);
  return listAudit(ctx.db, filter);
}
