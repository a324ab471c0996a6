import type { Context } from "../../context.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { Refusal } from "../../refusals.ts";
import type { CallOutcome } from "../model/call-outcome.ts";
import { planRef, type PlanCall, type PlanImage } from "../model/plan.ts";
import type { Outcome, Request } from "../model/request.ts";
import { readByRef, readInInbox } from "../read/read-request.ts";
import { findCallOutcomes } from "../store/call-outcomes.ts";
import { findPlanImage, listCallOutcomes, listCallsAfter, listPlanCalls } from "../store/plans.ts";

/** A call of a plan, and how it ended. */
export type ReadPlanCall = PlanCall & { outcome: Outcome | null };

/** Returns the request of an asker's plan as it is now. @throws {Refusal} `request_not_found` */
export async function readPlan(ctx: Context, asker: string, planId: string): Promise<Request> {
  return readByRef(ctx, asker, planRef(planId));
}

/** Returns the calls of a plan in their order. */
export async function readPlanCalls({ db }: Pick<Context, "db">, plan: Request): Promise<ReadPlanCall[]> {
  const calls = await listPlanCalls(db, plan.id);
  const outcomes = await listCallOutcomes(db, plan.id);
  // A frozen agent sees an approved plan as one that waits.
  if (plan.state === "open") return calls.map((call) => ({ ...call, state: "open", outcome: null }));
  return calls.map((call) => ({ ...call, outcome: outcomes.get(call.requestId) ?? null }));
}

/** Returns the stored outcomes of the approved calls of a plan, by the ids of their requests. */
export async function readPlanOutcomes(
  { db }: Pick<Context, "db">,
  planId: RequestId,
): Promise<ReadonlyMap<RequestId, CallOutcome>> {
  const calls = await listPlanCalls(db, planId);
  return findCallOutcomes(
    db,
    calls.map(({ requestId }) => requestId),
  );
}

/** So many calls are read at once: each may be large, and others are served between two reads. */
const CALLS_AT_ONCE = 10;

/** Yields the requests of a plan's calls in their order, whole. */
export async function* readWholeCalls({ db }: Pick<Context, "db">, planId: RequestId): AsyncGenerator<Request> {
  for (let ord = 0; ; ord += CALLS_AT_ONCE) {
    const calls = await listCallsAfter(db, planId, ord, CALLS_AT_ONCE);
    yield* calls;
    if (calls.length < CALLS_AT_ONCE) return;
  }
}

/** Returns an image of the evidence of a plan in the person's inbox. @throws {Refusal} `request_not_found` */
export async function readPlanImage(
  ctx: Context,
  person: string,
  { requestId, ord }: { requestId: RequestId; ord: number },
): Promise<PlanImage> {
  const { id } = await readInInbox(ctx, person, requestId);
  const image = await findPlanImage(ctx.db, id, ord);
  if (!image) throw new Refusal("request_not_found");
  return image;
}
