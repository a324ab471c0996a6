import type { Context } from "../../context.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { CallOutcome } from "../model/call-outcome.ts";
import type { Request } from "../model/request.ts";
import { findCallOutcomes } from "../store/call-outcomes.ts";

/** Returns the stored outcomes of those of the requests that approve a call, by the ids of the requests. */
export function readCallOutcomes(
  { db }: Pick<Context, "db">,
  requests: readonly Request[],
): Promise<ReadonlyMap<RequestId, CallOutcome>> {
  const approved = requests.filter(({ outcome }) => outcome?.approved === true);
  return findCallOutcomes(
    db,
    approved.map(({ id }) => id),
  );
}
