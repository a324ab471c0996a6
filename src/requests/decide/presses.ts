import { findSignIn } from "../../access/store/sign-ins.ts";
import { appendAudit } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { Refusal } from "../../refusals.ts";
import { aboutRequest } from "../create/create-request.ts";
import { finishRequest, type Ending } from "../end/finish.ts";
import type { Decider, Decision, Press, Request } from "../model/request.ts";
import { riskOf } from "../model/risk.ts";
import type { Settled } from "../model/settle.ts";
import { withEditedArguments } from "../model/view.ts";
import { listDecisionsSoFar, updatePresses, type RequestAt } from "../store/requests.ts";
import { countDecision, settleLocked, type DecisionToCount } from "./count-decision.ts";
import { responderOf } from "./decider.ts";

/** How a decision is pressed in the app: under which session, by its hash, and for how long it can be undone. */
export interface Pressing {
  session: string;
  undoMs: number;
}

/** Returns whether a decision may be held for an undo: what is of high risk is decided with care, and at once. */
export function isUndoable(request: Request, decision: Decision): boolean {
  const isEdited = decision.kind === "approve" && decision.kwargs !== undefined;
  const call = isEdited ? withEditedArguments(request, decision.kwargs ?? "", decision.guard) : request;
  return riskOf(call) !== "high";
}

/** Returns whether the person has pressed the same, and could still undo it. */
export function isPressed({ presses = [] }: Request, { person }: Decider, decision: Decision): boolean {
  const own = presses.find((press) => press.person === person);
  return own !== undefined && JSON.stringify(own.decision) === JSON.stringify(decision);
}

/**
 * Stores a decision that can be undone until it leaves, in place of the person's press before. It leaves before the
 * deadline. A rejection voids the approvals that others have pressed. Returns the request, which stays open.
 */
export async function storePress(
  tx: Tx,
  { request, responder: { person }, decision, at }: Pick<DecisionToCount, "request" | "responder" | "decision" | "at">,
  { session, undoMs }: Pressing,
): Promise<Request> {
  if (person === null) throw new Error("a press is a person's");
  const press: Press = { person, session, decision, at, dueAt: Math.min(at + undoMs, request.expiresAt - 1) };
  const others = request.presses?.filter((one) => one.person !== person) ?? [];
  const voided = decision.kind === "reject" ? others.filter((one) => one.decision.kind === "approve") : [];
  for (const one of voided) await notePress(tx, request, one, { action: "press_voided", data: { reason: "rejected" } });
  const pressed = await updatePresses(tx, request, [...others.filter((one) => !voided.includes(one)), press]);
  await notePress(tx, request, press, { action: "pressed", data: { decision: decision.kind } });
  // The agent learns of nothing yet.
  tx.wake(INBOX_TOPIC);
  return pressed;
}

/**
 * Makes the pressed decisions of a locked request whose time to undo them is over, the first pressed first, and returns
 * the request as it is then. One is void if its session has ended, if the person may not decide so any more, or if it
 * approves for a frozen agent.
 *
 * @throws {Refusal} why the requester cannot take the outcome
 */
export async function makeDuePresses(ctx: Ending, tx: Tx, { request, ...at }: RequestAt): Promise<Request> {
  let current = request;
  for (const press of duePresses(request, at.now)) {
    if (current.state !== "open") break;
    current = await makePress(ctx, tx, { request: current, ...at }, press);
  }
  return current;
}

/** A press of a time to come was made under a clock that was wrong: it has waited long enough. */
function duePresses({ state, presses = [] }: Request, now: number): Press[] {
  if (state !== "open") return [];
  return presses.filter(({ at, dueAt }) => dueAt <= now || at > now).toSorted((one, other) => one.at - other.at);
}

async function makePress(ctx: Ending, tx: Tx, locked: RequestAt, press: Press): Promise<Request> {
  const { now, isFrozen } = locked;
  const { person, decision } = press;
  const request = await withoutPress(tx, locked.request, press);
  const signedIn = await findSignIn(tx, press.session);
  if (signedIn?.person.id !== person) return voidPress(tx, request, press, "session_ended");
  if (isFrozen && decision.kind === "approve") return voidPress(tx, request, press, "frozen");
  if (!(await ctx.requesters.ofRequest(request).isWanted(tx, request))) {
    const how = { by: { kind: "server", id: request.door }, action: "cancelled" } as const;
    return finishRequest(ctx, tx, request, { outcome: { status: "cancelled" }, at: now, ...how });
  }
  const responder = await responderOf(tx, person, "web");
  const before = await listDecisionsSoFar(tx, request);
  // It was pressed in time, also where the server was down at the deadline.
  const at = now < request.expiresAt || isFrozen ? now : press.dueAt;
  const next = { request, before, responder, decision, at };
  let settled: Settled;
  try {
    settled = await settleLocked(ctx, tx, next);
  } catch (error) {
    if (error instanceof Refusal) return voidPress(tx, request, press, error.code);
    throw error;
  }
  return countDecision(ctx, tx, next, settled);
}

/** Voids the due presses of a locked request, because their requester cannot take the outcome. */
export async function voidDuePresses(tx: Tx, { request, now }: RequestAt, reason: string): Promise<void> {
  let current = request;
  for (const press of duePresses(request, now)) {
    current = await voidPress(tx, await withoutPress(tx, current, press), press, reason);
  }
}

/** Takes back what the person has pressed. Returns the locked request as it is then; nothing where they have not. */
export async function undoPress(tx: Tx, request: Request, person: string): Promise<Request | undefined> {
  const press = request.presses?.find((one) => one.person === person);
  if (!press) return undefined;
  await notePress(tx, request, press, { action: "press_undone" });
  tx.wake(INBOX_TOPIC);
  return withoutPress(tx, request, press);
}

async function withoutPress(tx: Tx, request: Request, press: Press): Promise<Request> {
  return updatePresses(tx, request, request.presses?.filter((one) => one.person !== press.person) ?? []);
}

async function voidPress(tx: Tx, request: Request, press: Press, reason: string): Promise<Request> {
  await notePress(tx, request, press, { action: "press_voided", data: { reason } });
  tx.wake(INBOX_TOPIC);
  return request;
}

/** The record has what became of a press. */
async function notePress(
  tx: Tx,
  request: Request,
  { person }: Press,
  { action, data }: { action: "pressed" | "press_undone" | "press_voided"; data?: Record<string, unknown> },
): Promise<void> {
  await appendAudit(tx, {
    actor: { kind: "human", id: person },
    ...aboutRequest(request, action),
    via: "web",
    ...(request.digest !== null && { digest: request.digest }),
    ...(data && { data }),
  });
}
