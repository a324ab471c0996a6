import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";
import { appendAudit } from "../../core/store/audit.ts";
import { transact } from "../../core/store/transact.ts";
import { aboutRequest } from "../create/create-request.ts";
import { lockForAgent } from "./lock-for-agent.ts";
import { startCallIn } from "../outcome/report-outcome.ts";
import { claimOf, type Request } from "../model/request.ts";
import { shownToAgent } from "../model/still.ts";
import { updateRequest } from "../store/requests.ts";

/**
 * Gives the decision on a request to one run of its asker, which goes on with it: of any number of runs, on any server,
 * one gets it, and the same run gets it again. A claim is never given back, because its run may have acted.
 *
 * @throws {Refusal} `request_not_found`, `not_decided`, `already_claimed`; `decided_with_plan` for an approved call of a
 *   plan, which is used there
 */
export async function claimDecision(ctx: Context, requestId: RequestId, run: string): Promise<Request> {
  return transact(ctx, async (tx) => {
    const locked = await lockForAgent(tx, requestId);
    if (!locked) throw new Refusal("request_not_found");
    const { now } = locked;
    const request = shownToAgent(locked);
    if (request.state === "open") throw new Refusal("not_decided");
    if (request.plan !== undefined && request.outcome?.approved === true)
      throw new Refusal("decided_with_plan", {}, "This call is part of a plan, and is used there.");
    const claim = claimOf(request);
    if (claim?.run === run) return request;
    if (claim) throw new Refusal("already_claimed", { claimed_at: claim.at });
    const claimed = await updateRequest(tx, { ...request, wire: { ...request.wire, claim: { run, at: now } } });
    await startCallIn(tx, request, run, now);
    await appendAudit(tx, {
      actor: { kind: "agent", id: request.asker },
      ...aboutRequest(request, "claimed"),
      ...(request.outcome?.digest !== undefined && { digest: request.outcome.digest }),
      data: { run },
    });
    return claimed;
  });
}
