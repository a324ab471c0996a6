import { isDeepStrictEqual } from "node:util";
import type { Context } from "../context.ts";
import { appendAudit } from "../core/store/audit.ts";
import { transact } from "../core/store/transact.ts";
import { ruleOf } from "./list.ts";
import type { Policy, PolicyRule } from "./model/policy.ts";
import { removeRule } from "./model/text.ts";
import { listOnceWritten, moveProposalIf, type Proposal } from "./store/learning.ts";

/** The policy file of a server (`responders/policy/policy-file.ts`). */
interface WrittenPolicy {
  current(): { policy: Policy };
  state(): "ok" | "stale" | "missing";
  edit(change: (text: string) => Promise<string>): Promise<void>;
}

/**
 * Learned rules that an earlier version wrote into the policy file have left it, because the store holds them for every
 * server. One that was accepted, and not yet noted as such, is. A rule that somebody has changed since stays: it is the
 * operator's.
 */
export async function takeOverLearned(ctx: Pick<Context, "db" | "wake" | "log">, file: WrittenPolicy): Promise<void> {
  if (file.state() !== "ok") return;
  const written = new Map(file.current().policy.rules.map((rule) => [rule.id, rule]));
  for (const proposal of await listOnceWritten(ctx.db)) {
    const rule = written.get(proposal.rule.id);
    if (!rule || !isSameRule(rule, ruleOf(proposal))) continue;
    if (proposal.state === "open") await noteAccepted(ctx, proposal);
    const facts = { rule: proposal.rule.id };
    try {
      await file.edit((text) => removeRule(text, proposal.rule.id));
      ctx.log.info(facts, "a learned rule was taken out of the policy file: the store holds it now, for every server");
    } catch (error) {
      ctx.log.warn(
        { ...facts, err: error },
        "a learned rule cannot be taken out of the policy file; the store decides",
      );
    }
  }
}

function isSameRule(one: PolicyRule, other: PolicyRule): boolean {
  const comparable = ({ when, unless, decision, isObserved }: PolicyRule) => [
    Object.fromEntries(when.map((condition) => [condition.input, condition])),
    unless,
    decision,
    isObserved,
  ];
  return isDeepStrictEqual(comparable(one), comparable(other));
}

/** Completes the work of a server that died after it wrote the rule and before it recorded that. */
async function noteAccepted(ctx: Pick<Context, "db" | "wake">, { id, rule }: Proposal): Promise<void> {
  const actor = { kind: "server", id: "parley" } as const;
  await transact(ctx, async (tx) => {
    if (!(await moveProposalIf(tx, id, { from: "open", to: "accepted", by: actor.id }))) return;
    await appendAudit(tx, { actor, action: "policy_proposal.accepted", data: { proposal: id, rule: rule.id } });
  });
}
