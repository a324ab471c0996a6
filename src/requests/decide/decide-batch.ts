import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { transact } from "../../core/store/transact.ts";
import { Refusal } from "../../refusals.ts";
import type { Decider, Request } from "../model/request.ts";
import { findRequests } from "../store/requests.ts";
import { decideIn, judged, noteRefused, type DecisionInput, type JudgedDecision } from "./decide.ts";

/** One call of a batch, and the digest of it that was shown. */
export interface BatchChoice {
  requestId: RequestId;
  digest: string;
}

/** The decision of one person about several calls at once. */
export interface BatchInput {
  calls: readonly BatchChoice[];
  approved: boolean;
  comment?: string;
  responder: Decider;
  /** See `DecisionInput`. */
  byKey: boolean;
  session?: string | undefined;
}

/**
 * Decides several calls for one person: each by its own digest, with its own record and receipt, and all or none. The
 * same again changes nothing. Returns the calls as they are then, in their order.
 *
 * @throws {Refusal} as `decideRequest`, for the first call that cannot be decided so; its `ask_id` says which one that is
 */
export async function decideBatch(ctx: Context, input: BatchInput): Promise<Request[]> {
  const { approved, comment, responder, byKey, session } = input;
  const requests = new Map(
    (
      await findRequests(
        ctx.db,
        input.calls.map(({ requestId }) => requestId),
      )
    ).map((one) => [one.id, one]),
  );
  // Two batches that share calls lock them in the same order.
  const inOrder = input.calls.toSorted((one, other) => (one.requestId < other.requestId ? -1 : 1));
  const decisions: { one: DecisionInput; judgement: JudgedDecision }[] = [];
  for (const { requestId, digest } of inOrder) {
    const request = requests.get(requestId);
    if (!request) throw named(new Refusal("request_not_found"), requestId);
    const decision = {
      kind: approved ? ("approve" as const) : ("reject" as const),
      digest,
      ...(comment !== undefined && { comment }),
    };
    const one: DecisionInput = { requestId, read: request, responder, decision, byKey, session };
    decisions.push({ one, judgement: await judged(ctx, request, one) });
  }
  let at: DecisionInput | undefined;
  try {
    return await transact(ctx, async (tx) => {
      const after = new Map<RequestId, Request>();
      for (const { one, judgement } of decisions) {
        at = one;
        const decided = await decideIn(ctx, tx, one, judgement);
        // The end of a call whose time is up waits for the clock: nothing of a batch is kept unless all of it is.
        if (decided instanceof Refusal) throw decided;
        after.set(one.requestId, decided.request);
      }
      return input.calls.flatMap(({ requestId }) => after.get(requestId) ?? []);
    });
  } catch (error) {
    if (!(error instanceof Refusal) || at === undefined) throw error;
    await noteRefused(ctx, at, error);
    throw named(error, at.requestId);
  }
}

function named(refusal: Refusal, requestId: RequestId): Refusal {
  return new Refusal(refusal.code, { ...refusal.details, ask_id: requestId }, refusal.message);
}
