import type { Context } from "../../context.ts";
import type { ModelBudget, Tokens } from "../model/model-budget.ts";
import { type Account, readMonth, readSpent, reserveSpending, settleSpending } from "../store/runner-budget.ts";
import { transact } from "../../core/store/transact.ts";
import { tellAdminsIn } from "../../requests/create/tell-admins.ts";

/** The most that a model may cost in a calendar month (UTC). */
export interface SpendingRules {
  /** In USD for a million tokens; absent: tokens are counted instead of money. */
  prices?: Tokens | undefined;
  budgetUsdMonth: number;
}

const TOKENS_A_MONTH = 2_000_000;
const NANO = 1_000_000_000;
/** A price in USD for a million tokens is one in thousandths of a nano-dollar for a token. */
const NANO_PER_PRICE = 1000;

type Spender = Pick<Context, "db" | "wake" | "newId" | "keyring" | "addressed" | "askerBounds" | "log">;

/**
 * Returns the account of what models cost (spec/relay 12). A reservation whose use nobody reported stays
 * counted: a server that was killed has spent at most what it had reserved. The admins learn once a month that
 * nothing is left.
 */
export function openModelBudget(ctx: Spender, { prices, budgetUsdMonth }: SpendingRules): ModelBudget {
  const unit = prices ? "nano_usd" : "tokens";
  const limit = prices ? Math.floor(budgetUsdMonth * NANO) : TOKENS_A_MONTH;
  const words = prices ? `${budgetUsdMonth} USD` : `${TOKENS_A_MONTH} tokens`;
  const amountOf = ({ input, output }: Tokens): number =>
    prices ? Math.ceil((input * prices.input + output * prices.output) * NANO_PER_PRICE) : input + output;

  async function tellAdmins(month: string): Promise<void> {
    ctx.log.warn({ month, limit: words }, "the month's budget for models is used up: no model answers");
    await transact(ctx, (tx) =>
      tellAdminsIn(ctx, tx, {
        ref: `model-budget:${month}`,
        title: "The month's budget for models is used up",
        words: `What models may cost a month (${words}) is spent for ${month}, so people are asked at once. The setting is runner.budget_usd_month.`,
      }),
    );
  }

  return {
    async isLeft() {
      const month = await readMonth(ctx.db);
      return (await readSpent(ctx.db, { month, unit })) < limit;
    },
    async reserve(most) {
      const account: Account = { month: await readMonth(ctx.db), unit };
      const amount = amountOf(most);
      if (!(await reserveSpending(ctx.db, account, amount, limit))) {
        await tellAdmins(account.month);
        return null;
      }
      return {
        settle: async (used) => {
          if (used) await settleSpending(ctx.db, account, { by: amountOf(used) - amount, ...used });
        },
      };
    },
  };
}
