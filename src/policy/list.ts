import type { Context } from "../context.ts";
import { everyRow, type ListPage, type ListPosition, pageOf } from "../core/model/list-page.ts";
import type { Policy, PolicyRule } from "./model/policy.ts";
import { checkPolicy } from "./model/check.ts";
import { ruleText } from "./model/text.ts";
import { type ListedGrant, listGrants as storedGrants } from "./store/grants.ts";
import * as learned from "./store/learning.ts";
import type { Proposal } from "./store/learning.ts";

export type { KeptGrant, ListedGrant } from "./store/grants.ts";
export type { Proposal } from "./store/learning.ts";

type Reads = Pick<Context, "db">;

/** Which page of a list. */
interface Wanted {
  after?: ListPosition;
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
  /** How many questions each has spared people, or inputs it has matched in mode `observe`, by the key of the rule. */
  spared: ReadonlyMap<string, number>;
  /** Those that were learned, and are in force beside the file's. */
  learned: readonly PolicyRule[];
}

/** Returns the questions that a rule has spared people, and the inputs that one in mode `observe` has matched. */
export function usesOf(
  { key, isObserved }: PolicyRule,
  { spared }: Pick<RulesInUse, "spared">,
): { spared: number; observed: number | null } {
  const uses = spared.get(key) ?? 0;
  return isObserved ? { spared: 0, observed: uses } : { spared: uses, observed: null };
}

export async function readRulesInUse(ctx: Reads, { rules }: Pick<Policy, "rules">): Promise<RulesInUse> {
  const lessons = (await learned.listAccepted(ctx.db)).map(ruleOf);
  const keys = [...new Set([...rules, ...lessons].map(({ key }) => key))];
  const savings = await learned.listSavings(ctx.db, keys);
  return {
    spared: new Map(savings.map(({ rule, saved }) => [rule, saved])),
    learned: lessons,
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

/** Returns the rule that a proposal would put in force, as it is written, each line with a plus before it. */
export function proposalDiff({ rule }: Proposal): string[] {
  return ruleText(rule).map((line) => `+${line}`);
}

/** Returns a learned rule as those of a file are. */
export function ruleOf({ rule }: Pick<Proposal, "rule">): PolicyRule {
  const [read] = checkPolicy({ version: 1, rules: [rule] }).rules;
  if (!read) throw new Error(`${rule.id} is no rule`);
  return read;
}
