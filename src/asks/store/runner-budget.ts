import { first, storeNow, type Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** The unit of a model's cost: a billionth of a dollar, or a token. */
export type SpendingUnit = "nano_usd" | "tokens";

/** A month's account, in one unit. */
export interface Account {
  /** The calendar month in UTC, as `2026-11`. */
  month: string;
  unit: SpendingUnit;
}

/** Returns the month that the store's clock is in. */
export async function readMonth(on: Queryable): Promise<string> {
  return new Date(await storeNow(on)).toISOString().slice(0, 7);
}

/** Returns what a month has cost so far, with what is reserved. */
export async function readSpent(on: Queryable, { month, unit }: Account): Promise<number> {
  const row = await first<{ spent: number }>(
    on,
    sql`SELECT spent FROM runner_spending WHERE month = ${month} AND unit = ${unit}`,
  );
  return row?.spent ?? 0;
}

/**
 * Adds to what a month has cost, if the sum stays within `limit`; true if it did. One statement: however many ask at
 * once, on however many nodes, the limit holds.
 */
export async function reserveSpending(
  on: Queryable,
  { month, unit }: Account,
  amount: number,
  limit: number,
): Promise<boolean> {
  if (amount > limit) return false;
  const rows = await on.all(
    sql`INSERT INTO runner_spending (month, unit, spent, input_tokens, output_tokens)
      VALUES (${month}, ${unit}, ${amount}, 0, 0)
      ON CONFLICT (month, unit) DO UPDATE SET spent = runner_spending.spent + excluded.spent
        WHERE runner_spending.spent + excluded.spent <= ${limit}
      RETURNING month`,
  );
  return rows.length > 0;
}

/** Puts what was used in the place of what was reserved. */
export async function settleSpending(
  on: Queryable,
  { month, unit }: Account,
  change: { by: number; input: number; output: number },
): Promise<void> {
  await on.all(
    sql`UPDATE runner_spending SET spent = spent + ${change.by}, input_tokens = input_tokens + ${change.input},
        output_tokens = output_tokens + ${change.output}
      WHERE month = ${month} AND unit = ${unit}`,
  );
}
