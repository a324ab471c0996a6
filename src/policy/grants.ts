import type { Context } from "../context.ts";
import { type Grant, mayGrant, type PolicyInput, policyClassOf, type PolicyDecision } from "./model/policy.ts";
import { classKeyOf, patternKeyOf } from "./model/class.ts";
import { type GrantPattern, readPattern } from "./model/pattern.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import type { Queryable, Tx } from "../core/store/db.ts";
import { findPerson } from "../access/store/people.ts";
import { findLiveGrants, insertGrant, type KeptGrant, revokeGrant, useGrantIfLive } from "./store/grants.ts";
import { countSaved, findLearned, holdIfAccepted } from "./store/learning.ts";
import { spendAllowance } from "./store/allowances.ts";
import { transact } from "../core/store/transact.ts";

/** A permission that a person gives. */
interface NewGrant {
  input: PolicyInput;
  approvalId: string;
  person: string;
  forMs: number;
  /** The calls that it covers; null for exactly this one. */
  pattern?: GrantPattern | null;
}

/**
 * Returns the store's grants for an input, for `evaluate`: the permanent permissions, who made each, and learned rules. They
 * are read each time, so that a revoked one allows nothing on any server.
 */
export async function readGrants(on: Queryable, input: PolicyInput): Promise<(Grant & { madeBy?: string })[]> {
  const what = policyClassOf(input);
  if (!what) return [];
  const key = classKeyOf(what);
  const keys = input.fn === null ? [key] : [key, patternKeyOf(what)];
  const learned = what.digest === undefined ? findLearned(on, key) : undefined;
  const [live, lesson] = await Promise.all([findLiveGrants(on, keys), learned]);
  const grants = live.map(({ pattern, ...one }) =>
    pattern === null ? one : { ...one, pattern: readPattern(pattern) },
  );
  if (!lesson) return grants;
  const { id, rule, state } = lesson;
  return [...grants, { ...what, id, learned: { rule: rule.id, reason: rule.reason, isRevoked: state !== "accepted" } }];
}

/**
 * Stores a grant for what a person allowed, from now on for `forMs`: the same action on the same resource, env, tool and
 * repo, by the same agent; or what a pattern covers. It is part of the transaction that settles the ask it comes from.
 *
 * @throws {Refusal} `scope_missing` for a person who is no admin, `not_grantable` for an ask that names no action, or
 * something that cannot be compared
 */
export async function storeGrant(
  ctx: Pick<Context, "newId">,
  tx: Tx,
  { input, approvalId, person: by, forMs, pattern = null }: NewGrant,
): Promise<KeptGrant> {
  const person = await findPerson(tx, by);
  if (person?.role !== "admin") {
    throw new Refusal("scope_missing", { scope: "admin" }, "Only admins may allow something for good.");
  }
  const what = policyClassOf(input);
  if (!mayGrant(what)) throw new Refusal("not_grantable", { action: input.action });
  const { digest, ...about } = what;
  const covers = pattern ? { pattern } : { pattern, ...(digest !== undefined && { digest }) };
  const grant = await insertGrant(tx, {
    ...about,
    ...covers,
    id: ctx.newId("grant"),
    classKey: pattern ? patternKeyOf(what) : classKeyOf(what),
    approvalId,
    madeBy: by,
    forMs,
  });
  const data = { grant: grant.id, ...(pattern ? { ...about, pattern } : what), expires_at: grant.expiresAt };
  await appendAudit(tx, {
    actor: { kind: "human", id: by },
    action: "policy_grant.created",
    subjectId: approvalId,
    data,
  });
  return grant;
}

/**
 * The grant allows nothing from now on, on any server.
 *
 * @throws {Refusal} `policy_entry_not_found` also for one that allows nothing any more
 */
export async function revokeGrantOf(ctx: Pick<Context, "db" | "wake">, id: string, by: Actor): Promise<KeptGrant> {
  return transact(ctx, async (tx) => {
    const grant = await revokeGrant(tx, id, by.id);
    if (!grant) throw new Refusal("policy_entry_not_found", { id });
    await appendAudit(tx, {
      actor: by,
      action: "policy_grant.revoked",
      subjectId: grant.approvalId,
      data: { grant: id },
    });
    return grant;
  });
}

/**
 * Counts a question that a rule or a grant spared people, in the transaction that settles it. Returns false where the
 * grant has ended, or the learned rule was revoked, since it was read, and where the allowance of the rule is used up:
 * then nothing is counted, and the ask has to be judged again.
 */
export async function noteSpared(tx: Tx, { countedAs, trace }: PolicyDecision): Promise<boolean> {
  if (countedAs && "grant" in countedAs) return useGrantIfLive(tx, countedAs.grant);
  if (!countedAs) return true;
  const { rule, proposal, spending } = countedAs;
  if (spending && !(await spendAllowance(tx, rule, spending))) return false;
  if (proposal !== undefined && !(await holdIfAccepted(tx, proposal))) return false;
  await countSaved(tx, [rule], trace.policy_version);
  return true;
}

/**
 * Counts an input under the rules in mode `observe` that it matched, in the transaction that stores or settles it.
 * It comes after `noteSpared`: all transactions then lock the counts in the same order.
 */
export async function noteObserved(tx: Tx, { observed }: PolicyDecision): Promise<void> {
  if (!observed) return;
  await countSaved(
    tx,
    observed.rules.map(({ key }) => key),
    observed.policyVersion,
  );
}
