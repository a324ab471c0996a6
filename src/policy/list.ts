import type { Context } from "../context.ts";
import { everyRow, type ListPage, type ListPosition, pageOf } from "../core/model/list-page.ts";
import type { Policy, PolicyRule } from "./model/policy.ts";
import { type UsedAllowance, usedWords } from "./model/allowance.ts";
import { conditionsText } from "./model/explain.ts";
import { listUsed } from "./store/allowances.ts";
import { checkPolicy } from "./model/check.ts";
import { ruleText } from "./model/text.ts";
import { countGrants, type ListedGrant, listGrants as storedGrants } from "./store/grants.ts";
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

/** Returns how many permanent permissions each agent has now, by the name that rules have for it. */
export async function countGrantsOfAgents(ctx: Reads): Promise<ReadonlyMap<string, number>> {
  return countGrants(ctx.db);
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
  /** The use of allowances in their present period, by the same names; those of single runs are left out. */
  used: ReadonlyMap<string, UsedAllowance>;
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

/** Returns what a rule is about, how much it allows, and how much of that is used, on one line. */
export function aboutRule(rule: PolicyRule, { used }: Pick<RulesInUse, "used">): string {
  const about = conditionsText(rule);
  const now = used.get(rule.key);
  if (!rule.most || !now) return about;
  return `${about} (${usedWords(rule.most, now)} used since ${new Date(now.openedAt).toISOString()})`;
}

export async function readRulesInUse(ctx: Reads, { rules }: Pick<Policy, "rules">): Promise<RulesInUse> {
  const lessons = (await learned.listAccepted(ctx.db)).map(ruleOf);
  const keys = [...new Set([...rules, ...lessons].map(({ key }) => key))];
  const savings = await learned.listSavings(ctx.db, keys);
  const used = await listUsed(
    ctx.db,
    rules.flatMap(({ key, most }) => (most ? [key] : [])),
  );
  return {
    spared: new Map(savings.map(({ rule, saved }) => [rule, saved])),
    used: new Map(used.map((one) => [one.rule, one])),
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
