import { policyInputOf } from "../model/policy-input.ts";
import type { Context } from "../../context.ts";
import type { Policy } from "../../policy/model/policy.ts";
import type { Job, Ask } from "../model/ask.ts";
import { appendAudit } from "../../core/store/audit.ts";
import { transact } from "../../core/store/transact.ts";
import { noteObserved, noteSpared } from "../../policy/grants.ts";
import { judge } from "../../policy/judge.ts";

/**
 * Asks the policy whether a tool that may change something may be called for an ask. Resolves once the decision is in
 * the record: nothing is changed of which there is no trace (spec/relay 12; spec/invariants P2). Only a rule
 * or a permanent permission allows it, never a default.
 */
export async function allowToolWrite(
  ctx: Pick<Context, "db" | "wake">,
  policy: Policy,
  { ask, job, role, tool }: { ask: Ask; job: Job; role: string | null; tool: string },
): Promise<{ isAllowed: boolean; reason: string }> {
  return transact(ctx, async (tx) => {
    const input = policyInputOf(ask, job, { action: "write", tool, ...(role !== null && { role }) });
    const judged = await judge(tx, { policy }, input);
    // A grant that was revoked since it was read allows nothing.
    const isAllowed = judged.decision === "ALLOW" && judged.matchedRule && (await noteSpared(tx, judged));
    await noteObserved(tx, judged);
    await appendAudit(tx, {
      actor: { kind: "policy", id: judged.trace.policy },
      action: isAllowed ? "tool.write_allowed" : "tool.write_refused",
      agent: ask.principal,
      subjectId: ask.id,
      data: { tool, trace: judged.trace },
    });
    return { isAllowed, reason: judged.because };
  });
}
