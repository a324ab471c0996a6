import type { Context } from "../../context.ts";
import { storeNow } from "../../core/store-now.ts";
import { Refusal } from "../../refusals.ts";
import { batchId } from "../model/inbox.ts";
import { compareCalls, type ComparedCalls } from "../model/batch.ts";
import { inForce, isAsked, isJoint } from "../model/audience.ts";
import type { Decider } from "../model/request.ts";
import { riskOf } from "../model/risk.ts";
import { isGuarded, maskedArguments } from "../model/view.ts";
import { countAlike, listInbox } from "../store/inbox.ts";
import { listDecisionsSoFar } from "../store/requests.ts";
import { readersFor } from "../read/read-request.ts";
import { isCall, type RecordedCall } from "../read/recorded-decision.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";

/** So many calls are decided together at most. */
const MOST_IN_BATCH = 200;
/** Longer arguments of one call, in characters, are read alone. */
const LONGEST_IN_TABLE = 20_000;
/** The arguments of all calls of a batch have so many characters at most. */
const MOST_CHARACTERS = 1_000_000;
const AT_ONCE = 50;

/**
 * Why a call is decided alone: a secret among its arguments has to be opened first, it is long, the person has decided
 * it, or may not decide it yet.
 */
export type DecidedAlone = "secret" | "long" | "decided" | "not_asked";

/** The calls of one agent and function that wait in a person's inbox, the first to be due first. */
export interface Batch extends ComparedCalls {
  calls: readonly { request: RecordedCall; alone: DecidedAlone | null }[];
  /** More of them wait than a batch has. */
  more: boolean;
}

/**
 * Returns the calls of one agent and function that wait in a person's inbox; `id` is their `batchId`.
 *
 * @throws {Refusal} `request_not_found` where none of them waits
 */
export async function readBatch(
  ctx: Pick<Context, "db" | "addressed">,
  who: Decider & { person: string },
  id: string,
): Promise<Batch> {
  const readers = await readersFor(ctx.db, who.person);
  const of = (await countAlike(ctx.db, readers)).find(({ asker, fn }) => batchId(asker, fn) === id);
  if (!of) throw new Refusal("request_not_found");
  const now = await storeNow(ctx.db);
  const calls: { request: RecordedCall; alone: DecidedAlone | null }[] = [];
  const wanted = { state: "open", kind: "approval", askers: [of.asker], fn: of.fn } as const;
  let characters = 0;
  for (let after; ;) {
    const page = await listInbox(ctx.db, readers, wanted, { limit: AT_ONCE, ...(after && { after }) });
    for (const { request } of page) {
      if (!isCall(request)) continue;
      characters += request.form.kwargs.length;
      if (calls.length === MOST_IN_BATCH || (characters > MOST_CHARACTERS && calls.length > 0))
        return { ...(await compared(calls)), calls, more: true };
      calls.push({ request, alone: await aloneOf(ctx, request, { who, now }) });
    }
    const last = page.at(-1)?.request;
    if (!last || page.length < AT_ONCE) return { ...(await compared(calls)), calls, more: false };
    after = { at: last.expiresAt, createdAt: last.createdAt, id: last.id };
    await yieldToEventLoop();
  }
}

function compared(calls: Batch["calls"]): Promise<ComparedCalls> {
  return compareCalls(
    calls.map(({ request }) => ({ kwargs: maskedArguments(request, request.form.kwargs), risk: riskOf(request) })),
  );
}

async function aloneOf(
  ctx: Pick<Context, "db" | "addressed">,
  request: RecordedCall,
  { who, now }: { who: Decider & { person: string }; now: number },
): Promise<DecidedAlone | null> {
  const audience = inForce(request.audience, ctx.addressed.groups);
  if (!isAsked(audience, who, "approval", now - request.createdAt)) return "not_asked";
  if (isJoint(request.audience)) {
    const decisions = await listDecisionsSoFar(ctx.db, request);
    if (decisions.some(({ decision }) => decision.by.kind === "person" && decision.by.id === who.person))
      return "decided";
  }
  return ownCardOf(request);
}

/** Returns why a call is approved on its own card alone; null where a table shows all of it. */
export function ownCardOf(request: RecordedCall): "secret" | "long" | null {
  if (isGuarded(request)) return "secret";
  return request.form.kwargs.length > LONGEST_IN_TABLE ? "long" : null;
}
