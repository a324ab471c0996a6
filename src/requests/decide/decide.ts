import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { canonicalExact, readExactJson } from "../../lib/json/exact-json.ts";
import type { Request, CountedDecision, Decision, Outcome, RefusedAnswer, Decider } from "../model/request.ts";
import type { DecisionOrigin } from "../../core/model/decision-origin.ts";
import { readingsOf } from "../model/read-value.ts";
import { frozenRefusal } from "../../policy/freezes.ts";
import { Refusal, type RefusalCode } from "../../refusals.ts";
import { findRequest, listDecisions, listDecisionsSoFar, lockRequest, updateRefused } from "../store/requests.ts";
import { appendAudit } from "../../core/store/audit.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { findHuman } from "../../access/store/humans.ts";
import { ownsKeyOf } from "../../access/store/keys.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { aboutRequest } from "../create/create-request.ts";
import { cleanWords, exposeIn, type CleanWords } from "../create/clean-words.ts";
import { secretsOfArguments } from "../create/guard-arguments.ts";
import { endHeldIfDue } from "../end/end.ts";
import { finishRequest, settledRefusal, type Ending } from "../end/finish.ts";
import { countDecision, settleLocked } from "./count-decision.ts";
import { decidedBy } from "./decider.ts";
import { isPressed, isUndoable, makeDuePresses, storePress, type Pressing } from "./presses.ts";

export interface DecisionInput {
  requestId: RequestId;
  /** The request as the caller has just read it; otherwise it is read once more. */
  read?: Request;
  responder: Decider;
  decision: Decision;
  /** The button, link or message by which the person decided; absent for the inbox. */
  origin?: DecisionOrigin;
  /** Hash of the session under which it was pressed in the app; left out, it is decided at once. */
  session?: string | undefined;
  /** The decision came with a key. The owner of the requester's key may hold both keys in one program. */
  byKey?: boolean;
}

export interface Decided {
  request: Request;
  /** The same person had decided, or pressed, the same before. */
  repeated: boolean;
}

/**
 * Records one person's decision, and settles the request when it was the last one needed. Every way to answer ends here.
 *
 * Looked at in this order: the same person repeats the same → the same result; over → `already_decided`; past its
 * deadline → ended, `request_expired`; asked at all; shown the same digest; valid; enough (spec/a2h 9).
 * An answer that is refused for what it says is kept with the request, so that its agent sees that somebody tried.
 *
 * @throws {Refusal} `request_not_found`, `already_decided`, `request_expired`, `request_cancelled`, `not_asked`,
 *   `not_counted`, `self_response`, `digest_mismatch`, `decided_with_plan`, `unknown_option`, `not_editable`, `wrong_decision`, `answer_misfit`,
 *   `frozen` for an approval
 */
export async function decideRequest(ctx: Context, input: DecisionInput): Promise<Decided> {
  const request = input.read ?? (await findRequest(ctx.db, input.requestId))?.request;
  if (!request) throw new Refusal("request_not_found");
  if (request.state !== "open") {
    const { words: decision } = await cleanWords(ctx, input.decision, { ...input.responder, requestId: request.id });
    const late = await lateAnswer(ctx.db, request, { ...input, decision });
    if (late instanceof Refusal) throw late;
    return late;
  }
  try {
    const decision = await judged(ctx, request, input);
    const result = await transact(ctx, (tx) => decideIn(ctx, tx, input, decision), rowsToDecide(ctx, request, input));
    if (result instanceof Refusal) throw result;
    return result;
  } catch (error) {
    if (error instanceof Refusal) await noteRefused(ctx, input, error);
    throw error;
  }
}

function rowsToDecide({ requesters }: Ending, request: Request, { responder: { person } }: DecisionInput) {
  if (requesters.ofRequest(request).changesNoOtherRows?.(request) !== true) return {};
  return { rows: [`request ${request.id}`, ...(person === null ? [] : [`person ${person}`])] };
}

/** The same as part of a transaction under way; a refusal that must last is returned, not thrown. */
export async function decideIn(
  ctx: Ending & Pick<Context, "newId" | "keyring">,
  tx: Tx,
  input: Omit<DecisionInput, "decision">,
  { words, ...judgement }: JudgedDecision,
): Promise<Decided | Refusal> {
  const result = await decideHeld(ctx, tx, { ...input, decision: words.words }, judgement);
  await exposeIn(ctx, tx, words);
  return result;
}

async function decideHeld(
  ctx: Ending,
  tx: Tx,
  input: DecisionInput,
  { misfit, press }: Omit<JudgedDecision, "words">,
): Promise<Decided | Refusal> {
  const held = await lockRequest(tx, input.requestId);
  if (!held) throw new Refusal("request_not_found");
  const { now, isFrozen } = held;
  const request = await makeDuePresses(ctx, tx, held);
  if (request.state !== "open") return lateAnswer(tx, request, input);
  if (request.plan !== undefined) throw new Refusal("decided_with_plan");
  const { responder, decision, origin } = input;
  const by = decidedBy(responder, request);
  const before = await listDecisionsSoFar(tx, request);
  const former = before.find((one) => one.decision.by.id === by.id);
  if (former && isSame(request, former.decision, decision)) return { request, repeated: true };
  if (press && isPressed(request, responder, decision)) return { request, repeated: true };

  // Ending it must last, so the refusal is returned and not thrown.
  const ended = await endHeldIfDue(ctx, tx, { request, now, isFrozen });
  if (ended.state !== "open") return settledRefusal(ended);
  if (!(await ctx.requesters.ofRequest(request).isWanted(tx, request))) {
    const how = { by: { kind: "server", id: request.door }, action: "cancelled" } as const;
    return settledRefusal(await finishRequest(ctx, tx, request, { outcome: { status: "cancelled" }, at: now, ...how }));
  }
  if (misfit?.code === "secret_detected") throw misfit;
  if (input.byKey && !responder.self && responder.person !== null) {
    if (await ownsKeyOf(tx, responder.person, request.asker)) throw new Refusal("self_response");
  }
  const next = { request, before, responder, decision, at: now, ...(origin && { origin }) };
  const settled = await settleLocked(ctx, tx, next);
  if (misfit) throw misfit;
  if (isFrozen && decision.kind === "approve") throw await frozenRefusal(tx, request.asker);
  if (press) return { request: await storePress(tx, next, press), repeated: false };
  return { request: await countDecision(ctx, tx, next, settled), repeated: false };
}

/** Returns the result of an answer to a request that is over. It locks nothing and writes nothing. */
async function lateAnswer(
  on: Queryable,
  request: Request,
  { responder, decision }: DecisionInput,
): Promise<Decided | Refusal> {
  const by = decidedBy(responder, request);
  const former = (await listDecisions(on, request.id)).find((one) => one.decision.by.id === by.id);
  return former && isSame(request, former.decision, decision) ? { request, repeated: true } : settledRefusal(request);
}

/** True if a decision repeats the one that was counted: the same choice, and for a reply the same words. */
function isSame(request: Request, former: CountedDecision, decision: Decision): boolean {
  switch (decision.kind) {
    case "approve":
      return (
        former.approved === true &&
        former.upTo === (decision.upTo === callsOf(request) ? undefined : decision.upTo) &&
        decision.option === undefined &&
        (decision.kwargs === undefined || decision.kwargs === request.outcome?.kwargs)
      );
    case "reject":
      return (
        former.approved === false && (decision.option === undefined || decision.option === request.outcome?.option)
      );
    case "reply":
      return (
        former.approved === null &&
        (decision.text === undefined || decision.text === request.outcome?.text) &&
        (decision.option === undefined || decision.option === request.outcome?.option) &&
        isSameValue(request.outcome, decision.value)
      );
    case "value":
      return (
        former.approved === null &&
        decision.text === request.outcome?.text &&
        isSameValue(request.outcome, decision.value)
      );
  }
}

function callsOf({ form }: Request): number | undefined {
  return form.kind === "approval" ? form.calls : undefined;
}

function isSameValue(outcome: Outcome | null, value: unknown): boolean {
  if (value === undefined || outcome?.value === undefined) return value === undefined;
  return canonicalExact(readExactJson(outcome.value)) === canonicalExact(value);
}

/** A decision whose words are read as the requested value; `misfit` is the refusal if it is not a valid answer. */
export interface JudgedDecision {
  words: CleanWords<Decision>;
  misfit: Refusal | null;
  /** Set where it was pressed in the app and can be undone. */
  press: Pressing | null;
}

/**
 * Reads the words of a decision as the requested value, and checks it. A decision is refused if the requester cannot
 * take it, or if it does not fit the request. Call it before the transaction, because it may take a while. Answers from
 * every channel are read here, and codes and links that let people answer requests are removed from them.
 */
export async function judged(
  ctx: Context,
  request: Request,
  { decision: given, responder, session }: Pick<DecisionInput, "decision" | "responder" | "session">,
): Promise<JudgedDecision> {
  const { form } = request;
  const { kind, ...said } = given;
  const clean = await cleanWords(ctx, said, { ...responder, requestId: request.id });
  const decision = await withGuard(ctx, { kind, ...clean.words } as Decision);
  const words = { ...clean, words: decision };
  const { undoMs } = ctx.addressed;
  const press = session !== undefined && undoMs > 0 && isUndoable(request, decision) ? { session, undoMs } : null;
  const isWords = form.kind === "value" && decision.kind === "value" && decision.value === undefined;
  if (!isWords || form.schema === null) return { words, press, misfit: await misfitOf(ctx, request, decision) };
  const { values, wanted } = readingsOf(form.schema, decision.text);
  let first: Refusal | null = null;
  for (const value of values) {
    const read = { ...decision, value };
    const misfit = await misfitOf(ctx, request, read);
    if (misfit?.code !== "answer_misfit") return { words: { ...words, words: read }, press, misfit };
    first ??= misfit;
  }
  const errors = wanted === null ? first?.details["errors"] : [{ path: "", message: wanted }];
  return { words, press, misfit: new Refusal("answer_misfit", { errors }) };
}

/** A person may write a secret into the arguments; no reader of the outcome sees it before they press for it. */
async function withGuard(ctx: Context, decision: Decision): Promise<Decision> {
  if (decision.kind !== "approve" || decision.kwargs === undefined) return decision;
  return { ...decision, guard: await secretsOfArguments(ctx, decision.kwargs) };
}

async function misfitOf(ctx: Context, request: Request, decision: Decision): Promise<Refusal | null> {
  const { form } = request;
  const refusal = await ctx.requesters.ofRequest(request).check?.(request, decision);
  if (refusal) return refusal;
  const judged =
    form.kind === "value" && form.schema && decision.kind === "value"
      ? { schema: form.schema, value: decision.value }
      : form.kind === "approval" && form.kwargsSchema && decision.kind === "approve" && decision.kwargs !== undefined
        ? { schema: form.kwargsSchema, value: JSON.parse(decision.kwargs) as unknown }
        : null;
  if (!judged) return null;
  const errors =
    judged.value === undefined
      ? [{ path: "", message: "must be JSON that fits the schema" }]
      : await ctx.schemas.validate(judged.schema, judged.value);
  return errors.length === 0 ? null : new Refusal("answer_misfit", { errors });
}

/** So much is kept of the words of an answer that was refused. */
const MOST_INPUT = 2000;

/** How an answer that was refused is kept with its request; other refusals are nobody's answer. */
const REASONS: Partial<Record<RefusalCode, RefusedAnswer["reason"]>> = {
  answer_misfit: "schema",
  unknown_option: "unknown_option",
  not_asked: "responder_not_allowed",
  not_counted: "responder_not_allowed",
  digest_mismatch: "digest_mismatch",
};

/** Keeps with its request an answer that was refused for what it says. */
export async function noteRefused(
  ctx: Context,
  { requestId, responder, decision }: DecisionInput,
  refusal: Refusal,
): Promise<void> {
  const reason = REASONS[refusal.code];
  if (!reason) return;
  const wasAsked = reason === "schema" || reason === "unknown_option";
  const words =
    ("text" in decision ? decision.text : undefined) ?? ("option" in decision ? decision.option : undefined);
  await noteRefusedAnswer(ctx, requestId, responder, {
    reason,
    ...(wasAsked && words !== undefined && { input: words }),
    ...(refusal.code === "answer_misfit" && { errors: refusal.details["errors"] as RefusedAnswer["errors"] & object }),
  });
}

/**
 * Stores with an open request, and in the audit record, that an answer was not accepted, and why (spec/a2h 5.5).
 * An answer of somebody who was not asked does not wake any inbox.
 */
export async function noteRefusedAnswer(
  ctx: Context,
  requestId: RequestId,
  responder: Pick<Decider, "via" | "person" | "identities" | "called">,
  refusal: Pick<RefusedAnswer, "reason" | "input" | "errors">,
): Promise<void> {
  const { via, person, called = "unknown" } = responder;
  const words = await cleanWords(ctx, refusal, { ...responder, requestId });
  const { input, ...kept } = words.words;
  await transact(ctx, async (tx) => {
    const held = await lockRequest(tx, requestId);
    if (held?.request.state !== "open") return;
    const attempts = (held.request.refused?.attempts ?? 0) + 1;
    const by = { via, responder: person ?? called };
    const refused = { ...by, ...kept, ...(input !== undefined && { input: input.slice(0, MOST_INPUT) }) };
    await updateRefused(tx, requestId, { ...refused, at: held.now, attempts });
    const isKnown = person !== null && (await findHuman(tx, person)) !== undefined;
    await appendAudit(tx, {
      actor: isKnown ? { kind: "human", id: person } : { kind: "address", id: via },
      ...aboutRequest(held.request, "answer_refused"),
      via,
      data: { reason: kept.reason },
    });
    await exposeIn(ctx, tx, words);
    if (kept.reason !== "responder_not_allowed") tx.wake(INBOX_TOPIC);
  });
}
