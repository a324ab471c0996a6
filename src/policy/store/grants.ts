import type { ListPosition } from "../../core/model/list-page.ts";
import type { Grant } from "../model/policy.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { empty, sql } from "../../core/store/sql.ts";
import { RESTORE } from "./tables.ts";

/** A grant that a person made, as it is stored. */
export interface KeptGrant extends Grant {
  /** The ask it was made from. */
  approvalId: string;
  /** The person. */
  madeBy: string;
  createdAt: number;
  expiresAt: number;
  revokedAt: number | null;
  /** How many questions it has spared people. */
  uses: number;
  usedAt: number | null;
}

interface GrantRow {
  grant_id: string;
  action: string;
  resource: string;
  env: string;
  tool: string | null;
  repo: string | null;
  agent: string | null;
  digest: string | null;
  ask_id: string;
  made_by: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
  uses: number;
  used_at: number | null;
}

function toGrant(row: GrantRow): KeptGrant {
  return {
    id: row.grant_id,
    action: row.action,
    resource: row.resource,
    env: row.env,
    tool: row.tool,
    repo: row.repo,
    agent: row.agent,
    approvalId: row.ask_id,
    madeBy: row.made_by,
    ...(row.digest !== null && { digest: row.digest }),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    uses: row.uses,
    usedAt: row.used_at,
  };
}

export async function insertGrant(
  tx: Tx,
  grant: Grant & Pick<KeptGrant, "approvalId" | "madeBy"> & { classKey: string; forMs: number },
): Promise<KeptGrant> {
  const row = await one<GrantRow>(
    tx,
    sql`INSERT INTO policy_grants (grant_id, class_key, action, resource, env, tool, repo, agent, digest, ask_id,
        made_by, created_at, expires_at, uses)
      VALUES (${grant.id}, ${grant.classKey}, ${grant.action}, ${grant.resource}, ${grant.env}, ${grant.tool},
        ${grant.repo}, ${grant.agent}, ${grant.digest ?? null}, ${grant.approvalId}, ${grant.madeBy}, parley_now(),
        parley_now() + ${grant.forMs}, 0)
      RETURNING *`,
  );
  return toGrant(row);
}

/** Returns the grants of a class that are neither revoked nor over, the longest good first. */
export async function findLiveGrants(on: Queryable, classKey: string): Promise<KeptGrant[]> {
  const rows = await on.all<GrantRow>(
    sql`SELECT * FROM policy_grants
      WHERE class_key = ${classKey} AND revoked_at IS NULL AND expires_at > (SELECT parley_now())
      ORDER BY expires_at DESC, grant_id LIMIT 10`,
  );
  return rows.map(toGrant);
}

/** Counts one use of a grant if it still is one; returns whether it is. The grant is held to the end. */
export async function useGrantIfLive(tx: Tx, id: string): Promise<boolean> {
  const row = await first(
    tx,
    sql`UPDATE policy_grants SET uses = uses + 1, used_at = (SELECT parley_now())
      WHERE grant_id = ${id} AND revoked_at IS NULL AND expires_at > (SELECT parley_now()) RETURNING grant_id`,
  );
  return row !== undefined;
}

/** Returns the grant, which allows nothing for good from now on; nothing where that is so already. */
export async function revokeGrant(tx: Tx, id: string, by: string): Promise<KeptGrant | undefined> {
  const row = await first<GrantRow>(
    tx,
    sql`UPDATE policy_grants SET revoked_at = parley_now(), revoked_by = ${by}
      WHERE grant_id = ${id} AND (revoked_at IS NULL OR revoked_by = ${RESTORE}) AND expires_at > (SELECT parley_now())
      RETURNING *`,
  );
  return row && toGrant(row);
}

/** A grant, and whether it allows something now. */
export type ListedGrant = KeptGrant & { isLive: boolean };

/** Returns one page of grants, the newest first: all, or those that allow something now, or those that do not. */
export async function listGrants(
  on: Queryable,
  { isLive, after, limit }: { isLive?: boolean; after?: ListPosition; limit: number },
): Promise<ListedGrant[]> {
  const live = sql`CASE WHEN revoked_at IS NULL AND expires_at > (SELECT parley_now()) THEN 1 ELSE 0 END`;
  const rows = await on.all<GrantRow & { live: number }>(
    sql`SELECT policy_grants.*, ${live} AS live FROM policy_grants WHERE 1 = 1
      ${isLive === undefined ? empty : sql`AND ${live} = ${isLive ? 1 : 0}`}
      ${after === undefined ? empty : sql`AND (created_at, grant_id) < (${after.at}, ${after.id})`}
      ORDER BY created_at DESC, grant_id DESC LIMIT ${limit}`,
  );
  return rows.map((row) => ({ ...toGrant(row), isLive: row.live === 1 }));
}

/** True where the person had granted the agent exactly what has this digest, and the grant was in force at `at`. */
export async function wasGranted(
  on: Queryable,
  { id, by, digest, agent, at }: { id: string; by: string; digest: string; agent: string; at: number },
): Promise<boolean> {
  const grant = await first(
    on,
    sql`SELECT grant_id FROM policy_grants WHERE grant_id = ${id} AND made_by = ${by}
      AND digest = ${digest} AND agent = ${agent} AND created_at <= ${at}
      AND expires_at > ${at} AND (revoked_at IS NULL OR revoked_at >= ${at})`,
  );
  return grant !== undefined;
}
