import type { Tx } from "../../core/store/db.ts";
import type { Requester, Requesters } from "../../requester.ts";
import { closeRequestIn } from "../end/close.ts";
import { decisionOnCall, outcomeOfCall, type EndingCall } from "../model/plan.ts";
import type { Request } from "../model/request.ts";
import { listDecisions, upsertDecision } from "../store/requests.ts";
import { listOpenCalls } from "../store/plans.ts";

/**
 * `agent` that puts a plan to people: the end of the plan ends each of its calls, in their order, with a record and a
 * receipt of its own. `ofRequest` finds the requester of a call.
 */
export function planRequester(agent: Requester, ofRequest: Requesters["ofRequest"]): Requester {
  return {
    ...agent,
    async ended(tx, over) {
      await endCalls(tx, over, ofRequest);
      await agent.ended(tx, over);
    },
  };
}

const CLOCK = { kind: "clock", id: "clock" } as const;

/** A rule that decided a plan has ended some calls by then. */
async function endCalls(tx: Tx, plan: Request, ofRequest: Requesters["ofRequest"]): Promise<void> {
  const { outcome, settledAt } = plan;
  if (outcome === null || settledAt === null) return;
  const counted = await listDecisions(tx, plan.id);
  const decisions = counted.map(({ decision }) => decision);
  const open = await listOpenCalls(tx, plan.id);
  for (const { ord, call } of open) {
    const at: EndingCall = { ord, digest: call.digest ?? "" };
    const end = outcomeOfCall(outcome, decisions, at);
    if (end.status === "answered") {
      for (const [i, { responder, decision }] of counted.entries()) {
        await upsertDecision(tx, call.id, i + 1, { responder, decision: decisionOnCall(decision, at) });
      }
    }
    const action = end.status === "answered" ? (end.approved === true ? "approved" : "rejected") : end.status;
    const by = end.by ?? (end.status === "expired" ? CLOCK : { kind: "server" as const, id: plan.door });
    const data = { plan: plan.id, ord };
    const act = (over: Request) => ofRequest(over).ended(tx, over);
    await closeRequestIn(tx, call, { outcome: end, at: settledAt, by, action, data }, act);
  }
}
