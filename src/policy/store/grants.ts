import type { ListPosition } from "../../core/model/list-page.ts";
import type { Grant } from "../model/policy.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, optional, rowsOf } from "../../core/store/rows.ts";
import { empty, sql } from "../../core/store/sql.ts";
import { RESTORE } from "./tables.ts";

/** A grant that a person made, as it is stored. */
export interface KeptGrant extends Omit<Grant, "learned"> {
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

const grantColumns = {
  id: "grant_id",
  action: "action",
  resource: "resource",
  env: "env",
  tool: "tool",
  repo: "repo",
  agent: "agent",
  approvalId: "ask_id",
  madeBy: "made_by",
  digest: optional("digest"),
  createdAt: "created_at",
  expiresAt: "expires_at",
  revokedAt: "revoked_at",
  uses: "uses",
  usedAt: "used_at",
} as const;
const grantRows = rowsOf<KeptGrant>()(grantColumns);

export async function insertGrant(
  tx: Tx,
  grant: Grant & Pick<KeptGrant, "approvalId" | "madeBy"> & { classKey: string; forMs: number },
): Promise<KeptGrant> {
  return grantRows.one(
    tx,
    sql`INSERT INTO policy_grants (grant_id, class_key, action, resource, env, tool, repo, agent, digest, ask_id,
        made_by, created_at, expires_at, uses)
      VALUES (${grant.id}, ${grant.classKey}, ${grant.action}, ${grant.resource}, ${grant.env}, ${grant.tool},
        ${grant.repo}, ${grant.agent}, ${grant.digest ?? null}, ${grant.approvalId}, ${grant.madeBy}, parley_now(),
        parley_now() + ${grant.forMs}, 0)
      RETURNING *`,
  );
}

/** Returns the grants of a class that are neither revoked nor over, the longest good first. */
export async function findLiveGrants(on: Queryable, classKey: string): Promise<KeptGrant[]> {
  return grantRows.all(
    on,
    sql`SELECT * FROM policy_grants
      WHERE class_key = ${classKey} AND revoked_at IS NULL AND expires_at > (SELECT parley_now())
      ORDER BY expires_at DESC, grant_id LIMIT 10`,
  );
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
  return grantRows.first(
    tx,
    sql`UPDATE policy_grants SET revoked_at = parley_now(), revoked_by = ${by}
      WHERE grant_id = ${id} AND (revoked_at IS NULL OR revoked_by = ${RESTORE}) AND expires_at > (SELECT parley_now())
      RETURNING *`,
  );
}

/** A grant, and whether it allows something now. */
export type ListedGrant = KeptGrant & { isLive: boolean };

const listedRows = rowsOf<ListedGrant>()({ ...grantColumns, isLive: flag("live") });

/** Returns one page of grants, the newest first: all, or those that allow something now, or those that do not. */
export async function listGrants(
  on: Queryable,
  { isLive, after, limit }: { isLive?: boolean; after?: ListPosition; limit: number },
): Promise<ListedGrant[]> {
  const live = sql`CASE WHEN revoked_at IS NULL AND expires_at > (SELECT parley_now()) THEN 1 ELSE 0 END`;
  return listedRows.all(
    on,
    sql`SELECT policy_grants.*, ${live} AS live FROM policy_grants WHERE 1 = 1
      ${isLive === undefined ? empty : sql`AND ${live} = ${isLive ? 1 : 0}`}
      ${after === undefined ? empty : sql`AND (created_at, grant_id) < (${after.at}, ${after.id})`}
      ORDER BY created_at DESC, grant_id DESC LIMIT ${limit}`,
  );
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
