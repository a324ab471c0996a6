import type { Context } from "../../context.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { argumentChanges, type ArgumentChange } from "../model/argument-changes.ts";
import type { Outcome, Request } from "../model/request.ts";
import { withEditedArguments } from "../model/view.ts";
import { listCallsDecidedByPeople } from "../store/recorded-calls.ts";
import { readersFor } from "./read-request.ts";
import { isCall, type RecordedCall, saidByPeople } from "./recorded-decision.ts";

/** An earlier call of the same agent and function, and how the present one differs from it. */
export interface Precedent {
  /** The call as it ran: with the edited arguments of its approval. */
  call: RecordedCall;
  outcome: Outcome;
  approved: boolean;
  changes: readonly ArgumentChange[];
  /** So many more arguments differ. */
  more: number;
}

const MOST = 3;

/**
 * Returns the newest calls of the same agent and function that people decided before, at most three, the newest first;
 * none for a request that is no call. Decisions of rules and permissions do not count, nor do requests that the person
 * does not find in the inbox.
 */
export async function readPrecedents(ctx: Pick<Context, "db">, person: string, request: Request): Promise<Precedent[]> {
  if (!isCall(request)) return [];
  const decided = await listCallsDecidedByPeople(ctx.db, {
    before: request,
    fn: request.form.fn,
    readers: await readersFor(ctx.db, person),
    limit: MOST,
  });
  const precedents: Precedent[] = [];
  for (const earlier of decided) {
    const { outcome } = earlier;
    const approved = saidByPeople(earlier);
    if (!isCall(earlier) || !outcome || approved === null) continue;
    const isEdited = outcome.edited && outcome.kwargs !== undefined;
    const call = isEdited ? withEditedArguments(earlier, outcome.kwargs ?? "", outcome.guard) : earlier;
    precedents.push({ call, outcome, approved, ...argumentChanges(call, request) });
    await yieldToEventLoop();
  }
  return precedents;
}
