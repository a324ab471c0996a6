import { policyInputOfCall, type PolicyCall } from "./model/policy-call.ts";
import type { Context } from "../context.ts";
import type { AddressedAsk, DecidedBy, Outcome } from "./model/request.ts";
import { isJoint } from "./model/audience.ts";
import { evaluate, type Policy } from "../policy/model/policy.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { noteCreated, storeAskIn, tellAskedIn, type AddressedWish, type Asking } from "./address-ask.ts";
import { withArguments } from "./decide.ts";
import { finishAddressed, type Ending } from "./end.ts";
import { argumentsWithSecrets } from "./guard-arguments.ts";
import { noteSpared, readGrants } from "../policy/grants.ts";
import { judge } from "../policy/judge.ts";

/** A function call that wants to run. */
export type CallWish = AddressedWish &
  PolicyCall & {
    /** What policy allows, people decide all the same. */
    forPeople?: boolean;
  };

/**
 * Asks whether a function call may run: a rule that names the function decides it, or what a person allowed for good for
 * this agent and exactly these arguments; and what neither speaks of people decide, as if there were no policy. What is
 * decided so is over when it is stored: nobody is told, and the agent hears of it as of any decision
 * (spec/a2h 8).
 *
 * @throws {Refusal} `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function requestCall(
  ctx: Asking & Ending & Pick<Context, "secrets">,
  policy: Policy,
  given: CallWish,
): Promise<{ ask: AddressedAsk; replayed: boolean }> {
  const guarded = await argumentsWithSecrets(ctx, given.form.kwargs);
  const owner = ctx.owners.ofRequest(given);
  const asked = (await owner.present?.(ctx.db, given)) ?? given;
  const call = guarded ? { ...asked, wire: { ...asked.wire, ...guarded } } : asked;
  // A call that needs several approvers can never be allowed permanently, nor can one whose arguments may still change.
  const mayStand = !isJoint(call.audience) && !call.form.editable;
  const standing = mayStand && evaluate(policy, [], policyInputOfCall(call)).standing;
  const wish = standing ? { ...call, wire: { ...call.wire, standing } } : call;
  return transact(ctx, async (tx) => {
    const stored = await storeAskIn(ctx, tx, wish);
    if (stored.replayed) return stored;
    const ruled = await ruleOn(tx, policy, call);
    await owner.stored?.(tx, stored.ask);
    if (!ruled) {
      await tellAskedIn(ctx, tx, wish, stored.ask);
      return stored;
    }
    await noteCreated(tx, stored.ask);
    const { outcome, by } = ruled;
    const { policy_version, grant } = outcome.trace;
    const ask = await finishAddressed(ctx, tx, stored.ask, {
      outcome,
      at: stored.ask.createdAt,
      by,
      action: outcome.approved ? "approved" : "rejected",
      data: { policy_version, ...(grant && { grant }) },
    });
    return { ask, replayed: false };
  });
}

interface Ruled {
  outcome: Outcome & Required<Pick<Outcome, "trace">>;
  by: DecidedBy;
}

/** Returns what policy makes of a call, counted; nothing where it is for people. */
async function ruleOn(tx: Tx, policy: Policy, call: CallWish): Promise<Ruled | null> {
  const { digest, form } = call;
  const input = policyInputOfCall(call);
  let grants = isJoint(call.audience) ? [] : await readGrants(tx, input);
  for (;;) {
    const verdict = await judge(tx, { policy, grants }, input);
    const { decision, trace, because, countedAs } = verdict;
    if (decision === "ESCALATE" || !countedAs || (decision === "ALLOW" && call.forPeople)) return null;
    const grant = grants.find(({ id }) => id === trace.grant);
    if (await noteSpared(tx, verdict)) {
      const by: DecidedBy =
        "rule" in countedAs
          ? { kind: "policy", id: countedAs.rule, via: "policy" }
          : { kind: "person", id: grant?.madeBy ?? "", via: "policy" };
      const approved = decision === "ALLOW";
      const comment = approved ? trace.reason : because;
      const outcome: Ruled["outcome"] = {
        status: "answered",
        approved,
        by,
        trace,
        ...(digest !== null && { digest }),
        ...(comment !== undefined && { comment }),
      };
      return { outcome: { ...withArguments({ form }, outcome, { kind: "approve" }), trace }, by };
    }
    // It was revoked, or ended, since it was read.
    grants = grants.filter((one) => one !== grant);
  }
}
