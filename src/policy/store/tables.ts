import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { sql } from "../../core/store/sql.ts";

/** The name under which a restore revokes what the operator may put back. */
export const RESTORE = "restore";

export const POLICY_TABLES: OwnedTables = {
  names: [
    "freezes",
    "policy_allowances",
    "policy_approvals",
    "policy_grants",
    "policy_proposals",
    "policy_reloads",
    "policy_savings",
    "policy_servers",
  ],
  atRestore: {
    // Also one that was ended since the backup: it holds until somebody looks.
    freezes: "stays",
    policy_allowances: "stays",
    policy_approvals: "stays",
    policy_grants: {
      held: {
        kind: "access",
        noun: "permanent permissions",
        hold: (atMs) => [
          sql`UPDATE policy_grants SET revoked_at = ${atMs}, revoked_by = ${RESTORE}
            WHERE revoked_at IS NULL AND expires_at > ${atMs}`,
        ],
        list: (atMs) => sql`SELECT grant_id || ' ' || action || ' of ' || coalesce(agent, 'any agent') AS name
          FROM policy_grants WHERE revoked_at = ${atMs} AND revoked_by = ${RESTORE} ORDER BY created_at, grant_id`,
        putBack: (atMs) => [
          sql`UPDATE policy_grants SET revoked_at = NULL, revoked_by = NULL
            WHERE revoked_at = ${atMs} AND revoked_by = ${RESTORE}`,
        ],
      },
    },
    policy_proposals: {
      held: {
        kind: "access",
        noun: "learned rules",
        hold: (atMs) => [
          sql`UPDATE policy_proposals SET state = 'revoked', decided_by = ${RESTORE}, decided_at = ${atMs}
            WHERE state = 'accepted'`,
        ],
        list: (atMs) => sql`SELECT proposal_id AS name FROM policy_proposals
          WHERE state = 'revoked' AND decided_by = ${RESTORE} AND decided_at = ${atMs} ORDER BY proposal_id`,
        putBack: (atMs) => [
          sql`UPDATE policy_proposals SET state = 'accepted'
            WHERE state = 'revoked' AND decided_by = ${RESTORE} AND decided_at = ${atMs}`,
          sql`UPDATE policy_reloads SET number = number + 1 WHERE id = 1`,
        ],
      },
    },
    policy_reloads: "stays",
    policy_savings: "stays",
    policy_servers: { ends: () => [sql`DELETE FROM policy_servers`] },
  },
  moveTimes: ({ wrongMs, nowMs }) => [
    sql`UPDATE freezes SET made_at = ${nowMs} WHERE made_at > ${nowMs}`,
    sql`UPDATE freezes SET settled_at = ${nowMs} WHERE settled_at > ${nowMs}`,
    sql`UPDATE policy_grants SET expires_at = expires_at - ${wrongMs - nowMs} WHERE created_at > ${nowMs}`,
    sql`UPDATE policy_allowances SET opened_at = ${nowMs} WHERE opened_at > ${nowMs}`,
    // A server is counted for a while from this time, so it may not lie ahead of now.
    sql`UPDATE policy_servers SET seen_at = ${nowMs} WHERE seen_at > ${nowMs}`,
  ],
};
