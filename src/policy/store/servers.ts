import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** A server that gave no sign of life for longer has ended, in ms. */
export const LIVE_MS = 30_000;

/** A running server, as the others know it. */
export interface PolicyServer {
  id: string;
  /** The name by which an operator knows it. */
  name: string;
  policyVersion: string;
}

/** This server runs, and goes by this policy. Its text is written only where it is another. */
export async function noteServer(tx: Tx, server: PolicyServer & { policy: string }): Promise<void> {
  const { id, name, policyVersion, policy } = server;
  const known = await first(
    tx,
    sql`UPDATE policy_servers SET seen_at = (SELECT parley_now())
      WHERE server_id = ${id} AND policy_version = ${policyVersion} RETURNING server_id`,
  );
  if (known) return;
  await tx.all(
    sql`INSERT INTO policy_servers (server_id, name, policy_version, policy, seen_at)
      VALUES (${id}, ${name}, ${policyVersion}, ${policy}, (SELECT parley_now()))
      ON CONFLICT (server_id) DO UPDATE SET name = excluded.name, policy_version = excluded.policy_version,
        policy = excluded.policy, seen_at = excluded.seen_at`,
  );
}

/** Deletes this server, which runs no more, and those that gave no sign of life for a long time. */
export async function forgetServer(tx: Tx, id: string): Promise<void> {
  await tx.all(
    sql`DELETE FROM policy_servers WHERE server_id = ${id} OR seen_at < (SELECT parley_now()) - ${100 * LIVE_MS}`,
  );
}

/** Returns the policies of running servers that are not this version, each once. */
export async function findOtherPolicies(
  on: Queryable,
  policyVersion: string,
): Promise<{ policyVersion: string; policy: string }[]> {
  const rows = await on.all<{ policy_version: string; policy: string }>(
    sql`SELECT policy_version, min(policy) AS policy FROM policy_servers
      WHERE policy_version <> ${policyVersion} AND seen_at > (SELECT parley_now()) - ${LIVE_MS}
      GROUP BY policy_version ORDER BY policy_version`,
  );
  return rows.map(({ policy_version, policy }) => ({ policyVersion: policy_version, policy }));
}

/** Returns the servers that run. */
export async function listServers(on: Queryable): Promise<PolicyServer[]> {
  const rows = await on.all<{ server_id: string; name: string; policy_version: string }>(
    sql`SELECT server_id, name, policy_version FROM policy_servers
      WHERE seen_at > (SELECT parley_now()) - ${LIVE_MS} ORDER BY name, server_id`,
  );
  return rows.map(({ server_id: id, name, policy_version: policyVersion }) => ({ id, name, policyVersion }));
}
