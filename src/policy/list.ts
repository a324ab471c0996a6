import type { Context } from "../context.ts";
import { lineDiff } from "../lib/line-diff.ts";
import { everyRow, type ListPage, type ListPlace, pageOf } from "../core/model/list-page.ts";
import type { Policy } from "./model/policy.ts";
import { addRule } from "./model/text.ts";
import { type ListedGrant, listGrants as storedGrants } from "./store/grants.ts";
import * as learned from "./store/learning.ts";
import type { Proposal } from "./store/learning.ts";

export type { KeptGrant, ListedGrant } from "./store/grants.ts";
export type { Proposal } from "./store/learning.ts";

type Reads = Pick<Context, "db">;

/** Which page of a list. */
interface Wanted {
  after?: ListPlace;
  limit: number;
}

/** Returns one page of what was allowed for good, the newest first: all, or what is so now, or what is so no more. */
export async function listGrants(ctx: Reads, page: Wanted & { isLive?: boolean }): Promise<ListPage<ListedGrant>> {
  const found = await storedGrants(ctx.db, { ...page, limit: page.limit + 1 });
  return pageOf(found, page.limit, ({ createdAt: at, id }) => ({ at, id }));
}

/** Returns one page of proposed rules, the newest first: all, or those of which the same became. */
export async function listProposals(
  ctx: Reads,
  page: Wanted & { state?: Proposal["state"] },
): Promise<ListPage<Proposal>> {
  const found = await learned.listProposals(ctx.db, { ...page, limit: page.limit + 1 });
  return pageOf(found, page.limit, ({ createdAt: at, id }) => ({ at, id }));
}

/** How the rules of a policy do. */
export interface RulesInUse {
  /** How many questions each has spared people, by what rules are counted under. */
  spared: ReadonlyMap<string, number>;
  /** The ids of those that were learned. */
  learned: ReadonlySet<string>;
}

export async function readRulesInUse(ctx: Reads, { rules }: Pick<Policy, "rules">): Promise<RulesInUse> {
  const keys = [...new Set(rules.map(({ key }) => key))];
  const [savings, accepted] = await Promise.all([learned.listSavings(ctx.db, keys), learned.listAccepted(ctx.db)]);
  return {
    spared: new Map(savings.map(({ rule, saved }) => [rule, saved])),
    learned: new Set(accepted.map(({ rule }) => rule.id)),
  };
}

const READ_AT_ONCE = 500;

/** Returns every grant and every proposal, each the newest first, whatever became of them. */
export async function readBesidePolicy(ctx: Reads): Promise<{ grants: ListedGrant[]; proposals: Proposal[] }> {
  const limit = READ_AT_ONCE;
  return {
    grants: await everyRow((from) => listGrants(ctx, { ...from, limit })),
    proposals: await everyRow((from) => listProposals(ctx, { ...from, limit })),
  };
}

/** Returns how the policy file would change, as a unified diff. @throws {PolicyMistake} when the file holds a mistake */
export function proposalDiff(text: string, { rule }: Proposal): string[] {
  return lineDiff(text, addRule(text, rule));
}
