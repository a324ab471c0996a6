import type { ListPosition } from "../../core/model/list-page.ts";
import { type GrantPattern, storedPattern } from "../model/pattern.ts";
import type { Grant } from "../model/policy.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, optional, rowsOf } from "../../core/store/rows.ts";
import { empty, join, sql } from "../../core/store/sql.ts";
import { RESTORE } from "./tables.ts";

/** A grant that a person made, as it is stored. */
export interface KeptGrant extends Omit<Grant, "learned" | "pattern"> {
  /** The calls that it covers, as it is written; null where that is one exact call, or one class of asks. */
  pattern: GrantPattern | null;
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
  pattern: json("pattern", storedPattern),
  createdAt: "created_at",
  expiresAt: "expires_at",
  revokedAt: "revoked_at",
  uses: "uses",
  usedAt: "used_at",
} as const;
const grantRows = rowsOf<KeptGrant>()(grantColumns);

export async function insertGrant(
  tx: Tx,
  grant: Omit<Grant, "pattern"> &
    Pick<KeptGrant, "approvalId" | "madeBy" | "pattern"> & { classKey: string; forMs: number },
): Promise<KeptGrant> {
  return grantRows.one(
    tx,
    sql`INSERT INTO policy_grants (grant_id, class_key, action, resource, env, tool, repo, agent, digest,
        pattern, ask_id, made_by, created_at, expires_at, uses)
      VALUES (${grant.id}, ${grant.classKey}, ${grant.action}, ${grant.resource}, ${grant.env}, ${grant.tool},
        ${grant.repo}, ${grant.agent}, ${grant.digest ?? null}, ${grant.pattern && JSON.stringify(grant.pattern)},
        ${grant.approvalId}, ${grant.madeBy}, parley_now(),
        parley_now() + ${grant.forMs}, 0)
      RETURNING *`,
  );
}

/** Returns the grants of these classes that are neither revoked nor over, those with a pattern last, the longest good first. */
export async function findLiveGrants(on: Queryable, classKeys: readonly string[]): Promise<KeptGrant[]> {
  return grantRows.all(
    on,
    sql`SELECT * FROM policy_grants
      WHERE class_key IN (${join(classKeys)}) AND revoked_at IS NULL AND expires_at > (SELECT parley_now())
      ORDER BY CASE WHEN pattern IS NULL THEN 0 ELSE 1 END, expires_at DESC, grant_id LIMIT 100`,
  );
}

/** Returns a grant, whatever became of it. */
export async function findGrant(on: Queryable, id: string): Promise<KeptGrant | undefined> {
  return grantRows.first(on, sql`SELECT * FROM policy_grants WHERE grant_id = ${id}`);
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

/** Returns how many permanent permissions each agent has now, by the name that rules have for it. */
export async function countGrants(on: Queryable): Promise<Map<string, number>> {
  const rows = await on.all<{ agent: string; count: number }>(
    sql`SELECT agent, count(*) AS count FROM policy_grants
      WHERE agent IS NOT NULL AND revoked_at IS NULL AND expires_at > (SELECT parley_now()) GROUP BY agent`,
  );
  return new Map(rows.map(({ agent, count }) => [agent, count]));
}

/** Returns the grant by which the person had allowed something to the agent, if it was in force at `at`. */
export async function findGrantAt(
  on: Queryable,
  { id, by, agent, at }: { id: string; by: string; agent: string; at: number },
): Promise<KeptGrant | undefined> {
  return grantRows.first(
    on,
    sql`SELECT * FROM policy_grants WHERE grant_id = ${id} AND made_by = ${by}
      AND agent = ${agent} AND created_at <= ${at}
      AND expires_at > ${at} AND (revoked_at IS NULL OR revoked_at >= ${at})`,
  );
}
