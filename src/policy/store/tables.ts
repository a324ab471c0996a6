import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { sql } from "../../core/store/sql.ts";

export const POLICY_TABLES: OwnedTables = {
  names: [
    "policy_approvals",
    "policy_grants",
    "policy_proposals",
    "policy_reloads",
    "policy_savings",
    "policy_servers",
  ],
  moveTimes: ({ wrongMs, nowMs }) => [
    sql`UPDATE policy_grants SET expires_at = expires_at - ${wrongMs - nowMs} WHERE created_at > ${nowMs}`,
    // A server is counted for a while from this time, so it may not lie ahead of now.
    sql`UPDATE policy_servers SET seen_at = ${nowMs} WHERE seen_at > ${nowMs}`,
  ],
};
