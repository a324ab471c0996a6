import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { join, sql } from "../../core/store/sql.ts";
import { PERIOD_MS, type Spending, type UsedAllowance } from "../model/allowance.ts";

/** The use of the allowance of one rule. */
export interface UsedOfRule extends UsedAllowance {
  rule: string;
}

const usedRows = rowsOf<UsedOfRule>()({ rule: "rule", calls: "calls", amount: "amount", openedAt: "opened_at" });

/**
 * Counts one call under the rule of this key if its allowance has room for it; returns whether it has. The row is held to
 * the end of the transaction: the count is exact on any number of servers, and undone with the transaction.
 */
export async function spendAllowance(tx: Tx, rule: string, { allowance, amount, subject }: Spending): Promise<boolean> {
  const { per, sum } = allowance;
  const most = { calls: allowance.calls ?? Number.MAX_SAFE_INTEGER, amount: sum?.most ?? Number.MAX_SAFE_INTEGER };
  if (amount > most.amount) return false;
  const isOver = sql`policy_allowances.opened_at + ${PERIOD_MS[per]} <= excluded.opened_at`;
  const row = await first(
    tx,
    sql`INSERT INTO policy_allowances (rule, subject, opened_at, calls, amount)
      VALUES (${rule}, ${subject}, (SELECT parley_now()), 1, ${amount})
      ON CONFLICT (rule, subject) DO UPDATE SET
        calls = CASE WHEN ${isOver} THEN 1 ELSE policy_allowances.calls + 1 END,
        amount = CASE WHEN ${isOver} THEN excluded.amount ELSE policy_allowances.amount + excluded.amount END,
        opened_at = CASE WHEN ${isOver} THEN excluded.opened_at ELSE policy_allowances.opened_at END
      WHERE ${isOver} OR (policy_allowances.calls < ${most.calls}
        AND policy_allowances.amount <= ${most.amount} - excluded.amount)
      RETURNING rule`,
  );
  return row !== undefined;
}

/** Returns what is used of the allowances of these rules that are for no single run. */
export async function listUsed(on: Queryable, rules: readonly string[]): Promise<UsedOfRule[]> {
  return usedRows.all(
    on,
    sql`SELECT * FROM policy_allowances WHERE subject = '' AND rule IN (${join(["", ...rules])}) ORDER BY rule`,
  );
}

/** Deletes up to `limit` counts whose period is over, whatever it is; true when there may be more. */
export async function deleteOldAllowances(tx: Tx, limit: number): Promise<boolean> {
  const isOld = sql`opened_at <= (SELECT parley_now()) - ${PERIOD_MS.run}`;
  const rows = await tx.all(
    sql`DELETE FROM policy_allowances WHERE (rule, subject) IN
      (SELECT rule, subject FROM policy_allowances WHERE ${isOld} LIMIT ${limit}) AND ${isOld} RETURNING rule`,
  );
  return rows.length === limit;
}
