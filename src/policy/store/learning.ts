import type { ListPosition } from "../../core/model/list-page.ts";
import type { WrittenRule } from "../model/text.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { json, rowsOf } from "../../core/store/rows.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { empty, join, sql } from "../../core/store/sql.ts";

/** A rule that Parley proposes because people keep approving the same. */
export interface Proposal {
  id: string;
  rule: WrittenRule;
  state: "open" | "accepted" | "dismissed" | "revoked";
  /** How often the class had been approved when it was proposed. */
  approvals: number;
  createdAt: number;
  decidedAt: number | null;
}

const proposalRows = rowsOf<Proposal>()({
  id: "proposal_id",
  rule: json("rule"),
  state: "state",
  approvals: "approvals",
  createdAt: "created_at",
  decidedAt: "decided_at",
});

/** Holds what is learned, to the end: who counts approvals sees all that are written down. */
export async function lockLearning(tx: Tx): Promise<void> {
  await tx.all(lockedRows(tx, "policy_reloads", sql`id = 1`));
}

/** Writes down that somebody approved something of a class; once for each ask. */
export async function insertApproval(tx: Tx, approvalId: string, classKey: string): Promise<void> {
  await tx.all(
    sql`INSERT INTO policy_approvals (ask_id, class_key, approved_at)
      VALUES (${approvalId}, ${classKey}, (SELECT parley_now())) ON CONFLICT (ask_id) DO NOTHING`,
  );
}

/** Returns how often a class was approved in the last `withinMs`. */
export async function countApprovals(on: Queryable, classKey: string, withinMs: number): Promise<number> {
  const { count } = await one<{ count: number }>(
    on,
    sql`SELECT count(*) AS count FROM policy_approvals
      WHERE class_key = ${classKey} AND approved_at > (SELECT parley_now()) - ${withinMs}`,
  );
  return Number(count);
}

/** Deletes the counted approvals of a class. */
export async function deleteApprovals(tx: Tx, classKey: string): Promise<void> {
  await tx.all(sql`DELETE FROM policy_approvals WHERE class_key = ${classKey}`);
}

/** Forgets approvals from longer ago than `keptMs`. Returns whether there may be more. */
export async function deleteOldApprovals(tx: Tx, keptMs: number, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM policy_approvals WHERE ask_id IN (
        SELECT ask_id FROM policy_approvals WHERE approved_at <= (SELECT parley_now()) - ${keptMs} LIMIT ${limit})
      RETURNING ask_id`,
  );
  return rows.length === limit;
}

/** Writes a proposal down unless the class has had one, however that ended. */
export async function insertProposalIfFirst(
  tx: Tx,
  proposal: Pick<Proposal, "id" | "rule" | "approvals"> & { classKey: string },
): Promise<boolean> {
  const row = await first(
    tx,
    sql`INSERT INTO policy_proposals (proposal_id, class_key, rule, state, approvals, created_at)
      VALUES (${proposal.id}, ${proposal.classKey}, ${JSON.stringify(proposal.rule)}, 'open', ${proposal.approvals},
        parley_now())
      ON CONFLICT (class_key) DO NOTHING RETURNING proposal_id`,
  );
  return row !== undefined;
}

export async function findProposal(on: Queryable, id: string): Promise<Proposal | undefined> {
  return proposalRows.first(on, sql`SELECT * FROM policy_proposals WHERE proposal_id = ${id}`);
}

/** Returns one page of proposals, the newest first: all, or those in one state. */
export async function listProposals(
  on: Queryable,
  { state, after, limit }: { state?: Proposal["state"]; after?: ListPosition; limit: number },
): Promise<Proposal[]> {
  return proposalRows.all(
    on,
    sql`SELECT * FROM policy_proposals WHERE 1 = 1
      ${state === undefined ? empty : sql`AND state = ${state}`}
      ${after === undefined ? empty : sql`AND (created_at, proposal_id) < (${after.at}, ${after.id})`}
      ORDER BY created_at DESC, proposal_id DESC LIMIT ${limit}`,
  );
}

/** Returns the proposals whose rules are in force, in the order in which they were accepted. */
export async function listAccepted(on: Queryable): Promise<Proposal[]> {
  return proposalRows.all(
    on,
    sql`SELECT * FROM policy_proposals WHERE state = 'accepted' ORDER BY decided_at, proposal_id`,
  );
}

/** Returns what was learned of a class: a rule that is in force, or was until it was revoked. */
export async function findLearned(on: Queryable, classKey: string): Promise<Proposal | undefined> {
  return proposalRows.first(
    on,
    sql`SELECT * FROM policy_proposals WHERE class_key = ${classKey} AND state IN ('accepted', 'revoked')`,
  );
}

/** Returns whether a learned rule is in force; it is until this transaction ends. */
export async function holdIfAccepted(tx: Tx, id: string): Promise<boolean> {
  const row = await first(tx, lockedRows(tx, "policy_proposals", sql`proposal_id = ${id} AND state = 'accepted'`));
  return row !== undefined;
}

/** Returns every proposal that a policy file may hold the rule of, because rules once stood there. */
export async function listOnceWritten(on: Queryable): Promise<Proposal[]> {
  return proposalRows.all(on, sql`SELECT * FROM policy_proposals WHERE state <> 'dismissed'`);
}

/** Moves a proposal on if it is where it is thought to be; returns whether it was. */
export async function moveProposalIf(
  tx: Tx,
  id: string,
  { from, to, by }: { from: Proposal["state"]; to: Proposal["state"]; by: string },
): Promise<boolean> {
  const row = await first(
    tx,
    sql`UPDATE policy_proposals SET state = ${to}, decided_by = ${by}, decided_at = (SELECT parley_now())
      WHERE proposal_id = ${id} AND state = ${from} RETURNING proposal_id`,
  );
  return row !== undefined;
}

/** The number of questions that a rule has spared people, or of inputs that it has matched in mode `observe`, over all versions of the file that held it. */
export interface Savings {
  rule: string;
  saved: number;
  savedAt: number;
}

/** Counts one question that each of these rules spared people, or one input that it matched in mode `observe`. */
export async function countSaved(tx: Tx, rules: readonly string[], policyVersion: string): Promise<void> {
  // Rows in one order cannot wait for each other in two transactions.
  const rows = [...new Set(rules)].sort().map((rule) => sql`(${rule}, ${policyVersion}, 1, (SELECT parley_now()))`);
  await tx.all(
    sql`INSERT INTO policy_savings (rule, policy_version, saved, saved_at)
      VALUES ${join(rows)}
      ON CONFLICT (rule, policy_version)
      DO UPDATE SET saved = policy_savings.saved + 1, saved_at = excluded.saved_at`,
  );
}

/** Returns what these rules have spared people. */
export async function listSavings(on: Queryable, rules: readonly string[]): Promise<Savings[]> {
  const rows = await on.all<{ rule: string; saved: number; saved_at: number }>(
    sql`SELECT rule, sum(saved) AS saved, max(saved_at) AS saved_at FROM policy_savings
      WHERE rule IN (${join(["", ...rules])}) GROUP BY rule ORDER BY rule`,
  );
  return rows.map(({ rule, saved, saved_at: savedAt }) => ({ rule, saved: Number(saved), savedAt: Number(savedAt) }));
}

/** Every server reads the policy file again, within a second. */
export async function bumpPolicyReloads(tx: Tx): Promise<void> {
  await tx.all(sql`UPDATE policy_reloads SET number = number + 1 WHERE id = 1`);
}

/** Returns a number that is another once the policy file is to be read again. */
export async function findPolicyReloads(on: Queryable): Promise<number> {
  return (await one<{ number: number }>(on, sql`SELECT number FROM policy_reloads WHERE id = 1`)).number;
}
