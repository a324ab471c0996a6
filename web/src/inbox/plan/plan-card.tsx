import type { ComponentChildren } from "preact";
import { isFree } from "../pressed.ts";
import type { Plan, WholeAsk } from "../wire.ts";
import { Calls } from "./calls.tsx";
import { Evidence } from "./evidence.tsx";
import { approvedIn } from "./part.ts";
import { PlanApproval } from "./plan.tsx";
import { text } from "./plan-text.ts";

/** A plan, to be decided by the person in front of it, above `children`; or to be read. */
export function PlanCard({ ask, children }: { ask: WholeAsk; children?: ComponentChildren }) {
  const { plan } = ask;
  if (plan === null) return null;
  if (ask.state === "open" && isFree(ask)) {
    return (
      <PlanApproval ask={ask} plan={plan}>
        {children}
      </PlanApproval>
    );
  }
  return (
    <>
      <Evidence ask={ask} pieces={plan.evidence} />
      <Calls plan={plan} left={approvedIn(ask) ?? plan.calls.length} />
    </>
  );
}

/** How many calls of a plan that is over were approved. */
export function PlanEnd({ ask, plan }: { ask: WholeAsk; plan: Plan }) {
  const approved = approvedIn(ask);
  const of = plan.calls.length;
  if (approved === null) return null;
  return <p>{approved === 0 ? text.noneApproved(of) : text.approved(approved, of)}</p>;
}
