import type { Context } from "../context.ts";
import { evaluate, type Policy, policyClassOf, type PolicyInput } from "./model/policy.ts";
import { classKeyOf, learnedRule } from "./model/class.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import * as store from "./store/learning.ts";
import type { Proposal } from "./store/learning.ts";
import { transact } from "../core/store/transact.ts";

/** For so long an approval counts towards a proposal. */
export const LEARNED_WITHIN_MS = 30 * 86_400_000;

/**
 * A person approved an ask of this input, in the transaction that settles it. When people have approved the same class
 * `learnAfter` times within a month, a rule that would allow it is proposed, once for ever; 0 proposes nothing.
 *
 * Nothing is proposed for what a rule puts to people: the author of the rule wants them to be asked.
 */
export async function noteApproved(
  ctx: Pick<Context, "newId">,
  tx: Tx,
  {
    policy,
    input,
    approvalId,
    learnAfter,
  }: { policy: Policy; input: PolicyInput; approvalId: string; learnAfter: number },
): Promise<void> {
  const what = policyClassOf(input);
  // An answer to a question is no approval.
  if (input.ask_type !== "APPROVAL" && input.ask_type !== "POLICY_DECISION") return;
  if (learnAfter === 0 || !what || !learnedRule(what, learnAfter)) return;
  const classKey = classKeyOf(what);
  await store.lockLearning(tx);
  await store.insertApproval(tx, approvalId, classKey);
  const approvals = await store.countApprovals(tx, classKey, LEARNED_WITHIN_MS);
  if (approvals < learnAfter || !evaluate(policy, [], input).trace.defaulted) return;

  const rule = learnedRule(what, approvals);
  if (!rule) return;
  const id = ctx.newId("proposal");
  if (!(await store.insertProposalIfFirst(tx, { id, classKey, rule, approvals }))) return;
  const data = { proposal: id, rule: rule.id, ...what };
  await appendAudit(tx, {
    actor: { kind: "server", id: "parley" },
    action: "policy_proposal.created",
    subjectId: approvalId,
    data,
  });
}

/** A person rejected an ask of this input: what was approved before no longer counts towards a proposal. */
export async function noteRejected(tx: Tx, input: PolicyInput): Promise<void> {
  const what = policyClassOf(input);
  if (what) await store.deleteApprovals(tx, classKeyOf(what));
}

/** The proposed rule is in force on every server from now on. @throws {Refusal} `policy_entry_not_found` */
export async function acceptProposal(ctx: Pick<Context, "db" | "wake">, id: string, by: Actor): Promise<Proposal> {
  await findIn(ctx, id, "open");
  return move(ctx, id, { from: "open", to: "accepted", by, action: "policy_proposal.accepted" });
}

/** The proposal is gone, and its class is never proposed again. @throws {Refusal} `policy_entry_not_found` */
export async function dismissProposal(ctx: Pick<Context, "db" | "wake">, id: string, by: Actor): Promise<Proposal> {
  await findIn(ctx, id, "open");
  return move(ctx, id, { from: "open", to: "dismissed", by, action: "policy_proposal.dismissed" });
}

/**
 * A learned rule allows nothing from now on, on any server.
 *
 * @throws {Refusal} `policy_entry_not_found` for a rule that was not learned, or is not in force
 */
export async function revokeLearnedRule(
  ctx: Pick<Context, "db" | "wake">,
  ruleId: string,
  by: Actor,
): Promise<Proposal> {
  const proposal = (await store.listAccepted(ctx.db)).find(({ rule }) => rule.id === ruleId);
  if (!proposal) throw new Refusal("policy_entry_not_found", { id: ruleId });
  return move(ctx, proposal.id, { from: "accepted", to: "revoked", by, action: "policy_proposal.revoked" });
}

/** Every server reads its policy file again within a second. */
export async function reloadPolicy(ctx: Pick<Context, "db" | "wake">): Promise<void> {
  await transact(ctx, (tx) => store.bumpPolicyReloads(tx));
}

async function findIn(ctx: Pick<Context, "db">, id: string, state: Proposal["state"]): Promise<Proposal> {
  const proposal = await store.findProposal(ctx.db, id);
  if (proposal?.state !== state) throw new Refusal("policy_entry_not_found", { id });
  return proposal;
}

async function move(
  ctx: Pick<Context, "db" | "wake">,
  id: string,
  how: { from: Proposal["state"]; to: Proposal["state"]; by: Actor; action: string },
): Promise<Proposal> {
  return transact(ctx, async (tx) => {
    const moved = await store.moveProposalIf(tx, id, { ...how, by: how.by.id });
    const proposal = await store.findProposal(tx, id);
    if (!moved || !proposal) throw new Refusal("policy_entry_not_found", { id });
    await appendAudit(tx, { actor: how.by, action: how.action, data: { proposal: id, rule: proposal.rule.id } });
    return proposal;
  });
}
