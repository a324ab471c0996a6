import { sha256Digest } from "../../lib/json/exact-json.ts";
import type { DecisionOrigin } from "../../core/model/decision-origin.ts";
import type { CountedDecision, DecidedBy, Decider, Decision, Outcome, Request } from "../model/request.ts";
import { inForce } from "../model/audience.ts";
import { consentText } from "../model/consent.ts";
import { settle, type Counted, type Settled } from "../model/settle.ts";
import { agentName, optionsOf } from "../model/view.ts";
import { updatePresses, updateRequest, upsertDecision } from "../store/requests.ts";
import { appendAudit } from "../../core/store/audit.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { findHumans } from "../../access/store/humans.ts";
import { INBOX_TOPIC, requestTopic } from "../../core/store/wake.ts";
import { aboutRequest } from "../create/create-request.ts";
import { putBackInLists } from "../inbox/put-back.ts";
import { finishRequest, type Ending } from "../end/finish.ts";
import { decidedBy } from "./decider.ts";

/** A decision about a locked, open request, at a time of the store's clock, beside those counted before it. */
export interface DecisionToCount {
  request: Request;
  before: readonly Counted[];
  responder: Decider;
  decision: Decision;
  at: number;
  origin?: DecisionOrigin;
}

/**
 * Returns what a decision does to a locked, open request. Writes nothing.
 *
 * @throws {Refusal} as `settle`
 */
export async function settleLocked(ctx: Pick<Ending, "addressed">, tx: Tx, input: DecisionToCount): Promise<Settled> {
  const { request, before, responder, decision, at, origin } = input;
  const by = decidedBy(responder, request);
  const names = await namesOf(tx, [...before.map((one) => one.decision.by), by]);
  const others = before.filter((one) => one.decision.by.id !== by.id);
  const audience = inForce(request.audience, ctx.addressed.groups);
  return settle({ ...request, audience }, others, {
    responder,
    by,
    at,
    ...(origin && { origin }),
    decision: withWords(request, decision),
    nameOf: ({ id }) => names.get(id) ?? id,
  });
}

/**
 * Counts a decision that was settled, and ends the request where it was the last one needed. Returns the request as it
 * is then. A press of the same person is over by it.
 *
 * @throws {Refusal} why the requester cannot take the outcome
 */
export async function countDecision(
  ctx: Ending,
  tx: Tx,
  { request, before, responder, decision, at, origin }: DecisionToCount,
  settled: Settled,
): Promise<Request> {
  const { by } = settled.counted;
  await upsertDecision(tx, request.id, before.length + 1, { responder, decision: settled.counted });
  // point: decision-stored
  if (!settled.outcome) {
    if (responder.person !== null) await putBackInLists(tx, request.id, responder.person);
    const counting = await updateRequest(tx, { ...request, refused: null });
    await note(tx, request, settled.counted, "approval_counted");
    tx.wake(requestTopic(request.id));
    tx.wake(INBOX_TOPIC);
    const left = counting.presses?.filter(({ person }) => person !== responder.person);
    return left && left.length < (counting.presses?.length ?? 0) ? updatePresses(tx, counting, left) : counting;
  }
  const outcome = withArguments(request, settled.outcome, decision);
  const action = outcome.approved === undefined ? "answered" : outcome.approved ? "approved" : "rejected";
  const data = outcome.upTo === undefined ? {} : { data: { up_to: outcome.upTo } };
  return finishRequest(ctx, tx, request, { outcome, at, by, action, ...(origin && { origin }), ...data });
}

/** Free text that is the name or the title of a ready-made answer selects it (spec/a2h 9). */
function withWords(request: Request, decision: Decision): Decision {
  if (decision.kind !== "reply" || decision.option !== undefined || decision.text === undefined) return decision;
  const text = decision.text.trim();
  const option = optionsOf(request).find(({ name, title }) => name === text || title === text);
  return option ? { ...decision, option: option.name } : decision;
}

/** The arguments to run, where the agent let people edit them; edited ones have a digest of their own (spec/a2h 13). */
export function withArguments(request: Pick<Request, "form">, outcome: Outcome, decision: Decision): Outcome {
  if (request.form.kind !== "approval" || !request.form.editable || !outcome.approved) return outcome;
  const kwargs = (decision.kind === "approve" ? decision.kwargs : undefined) ?? request.form.kwargs;
  const edited = kwargs !== request.form.kwargs;
  const guard = edited && decision.kind === "approve" ? { guard: decision.guard ?? null } : {};
  return { ...outcome, kwargs, edited, ...guard, digest: sha256Digest(consentText(request.form.fn, kwargs)) };
}

async function namesOf(on: Queryable, deciders: readonly DecidedBy[]): Promise<Map<string, string>> {
  const humans = await findHumans(
    on,
    deciders.filter(({ kind }) => kind === "person").map(({ id }) => id),
  );
  return new Map(deciders.map(({ id, kind }) => [id, humans.get(id)?.name ?? (kind === "agent" ? agentName(id) : id)]));
}

async function note(tx: Tx, request: Request, { by, pressed: origin }: CountedDecision, action: string): Promise<void> {
  await appendAudit(tx, {
    actor: { kind: by.kind === "person" ? "human" : by.kind, id: by.id },
    ...aboutRequest(request, action),
    via: by.via,
    ...(origin && { origin }),
    ...(request.digest !== null && { digest: request.digest }),
  });
}
