import type { Context } from "../context.ts";
import { lineDiff } from "../lib/line-diff.ts";
import { addRule } from "../model/policy-text.ts";
import { listGrants, type KeptGrant } from "../store/policy-grants.ts";
import { listProposals, listSavings, type Proposal, type Savings } from "../store/policy-learning.ts";

export type { KeptGrant } from "../store/policy-grants.ts";
export type { Proposal, Savings } from "../store/policy-learning.ts";

/** What stands beside the policy file. */
export interface PolicyBeside {
  /** Newest first; those that are over or revoked too. */
  grants: (KeptGrant & { isLive: boolean })[];
  /** Newest first, whatever became of them. */
  proposals: Proposal[];
  /** How many questions each rule has spared people, by what rules are counted under. */
  savings: Savings[];
}

export async function listPolicy(ctx: Pick<Context, "db">): Promise<PolicyBeside> {
  const [grants, proposals, savings] = await Promise.all([
    listGrants(ctx.db),
    listProposals(ctx.db),
    listSavings(ctx.db),
  ]);
  return { grants, proposals, savings };
}

/** Returns how the policy file would change, as a unified diff. @throws {PolicyMistake} when the file holds a mistake */
export function proposalDiff(text: string, { rule }: Proposal): string[] {
  return lineDiff(text, addRule(text, rule));
}
