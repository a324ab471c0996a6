import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import type { Request } from "../model/request.ts";
import { isAskedBack } from "../model/inquiry.ts";
import { ALL_READERS, leavesOf, readerOf, SLACK_READERS } from "../model/audience.ts";
import type { CallOutcome } from "../model/call-outcome.ts";
import type { Counted } from "../model/settle.ts";
import { shownToAgent } from "../model/still.ts";
import { Refusal } from "../../refusals.ts";
import * as store from "../store/requests.ts";
import { findCallOutcome } from "../store/call-outcomes.ts";
import type { RequestAt } from "../store/requests.ts";
import type { Queryable } from "../../core/store/db.ts";
import { listDeliveries, type Delivery } from "../store/deliveries.ts";
import { findHumans, listIdentities, type Human } from "../../access/store/humans.ts";
import { findHuman } from "../../access/store/humans.ts";
import { findNewestPrompt } from "../store/newest.ts";
import { readWhenBack } from "../../core/read-when-back.ts";
import { FREEZES_TOPIC, requestTopic, watch } from "../../core/store/wake.ts";
import { expireRequest, isDue } from "../end/end.ts";

/** Returns the request as it is now: past its deadline it is settled first, so that it is never shown as open. */
async function asOfNow(ctx: Context, at: RequestAt): Promise<Request> {
  const { request } = at;
  if (!isDue(ctx, at)) return request;
  if (request.plan !== undefined) {
    await expireRequest(ctx, request.plan);
    return (await store.findRequest(ctx.db, request.id))?.request ?? request;
  }
  return (await expireRequest(ctx, request.id)) ?? request;
}

/** The same as the agent may see it: while it is frozen, an approval is not handed out. */
async function forAgent(ctx: Context, at: RequestAt): Promise<Request> {
  return at.isFrozen ? shownToAgent(at) : asOfNow(ctx, at);
}

/** Returns what the asker calls `ref`. @throws {Refusal} `request_not_found` */
export async function readByRef(ctx: Context, asker: string, ref: string): Promise<Request> {
  const found = await store.findByRef(ctx.db, asker, ref);
  if (!found) throw new Refusal("request_not_found");
  return forAgent(ctx, found);
}

/** Returns the one request that any asker calls `ref`. @throws {Refusal} `request_not_found`, `ref_ambiguous` */
export async function readAnyByRef(ctx: Context, ref: string): Promise<Request> {
  const found = await store.findAllByRef(ctx.db, ref);
  const [only, ...others] = found;
  if (!only) throw new Refusal("request_not_found");
  if (others.length > 0) throw new Refusal("ref_ambiguous", { ask_ids: found.map(({ request }) => request.id) });
  return forAgent(ctx, only);
}

/** Returns the newest prompt of a coding agent, if there is one. */
export async function readNewestPrompt(
  ctx: Context,
  of: Parameters<typeof findNewestPrompt>[1],
): Promise<Request | null> {
  const found = await findNewestPrompt(ctx.db, of);
  return found ? forAgent(ctx, found) : null;
}

/** Returns a request by its own id, as its agent may see it. @throws {Refusal} `request_not_found` */
export async function readRequest(ctx: Context, requestId: RequestId): Promise<Request> {
  return (await readStill(ctx, requestId)).request;
}

/** The same, with whether its agent is frozen. */
async function readStill(ctx: Context, requestId: RequestId): Promise<{ request: Request; isFrozen: boolean }> {
  const found = await store.findRequest(ctx.db, requestId);
  if (!found) throw new Refusal("request_not_found");
  return { request: await forAgent(ctx, found), isFrozen: found.isFrozen };
}

/** Returns a request by its own id, as people see it. @throws {Refusal} `request_not_found` */
export async function readForPeople(ctx: Context, requestId: RequestId): Promise<Request> {
  const found = await store.findRequest(ctx.db, requestId);
  if (!found) throw new Refusal("request_not_found");
  return asOfNow(ctx, found);
}

/** The wake-up of a thaw may be lost. */
const THAWED_WITHIN_MS = 1000;

/** Returns when to look again at an open request; one that is open long after its deadline stands still. */
export function untilDueMs({ clock }: Pick<Context, "clock">, { expiresAt }: Pick<Request, "expiresAt">): number {
  const leftMs = expiresAt - clock.now();
  return leftMs < -THAWED_WITHIN_MS ? THAWED_WITHIN_MS : Math.max(20, leftMs + 5);
}

/** A wait for the end of a request; with `untilAskedBack` also for a question to its agent. */
export interface EndWait {
  waitMs: number;
  signal: AbortSignal;
  untilAskedBack?: boolean;
}

/** Returns the request as soon as it is over, else as it is when `waitMs` has passed. @throws {Refusal} `request_not_found` */
export async function waitForRequest(
  ctx: Context,
  requestId: RequestId,
  { waitMs, signal, untilAskedBack = false }: EndWait,
): Promise<Request> {
  const until = ctx.clock.monotonic() + waitMs;
  using changes = watch(ctx, [requestTopic(requestId), FREEZES_TOPIC], [ctx.stopping, signal]);
  for (;;) {
    const again = { waitMs: until - ctx.clock.monotonic(), signal };
    const { request, isFrozen } = await readWhenBack(ctx, () => readStill(ctx, requestId), again);
    const leftMs = until - ctx.clock.monotonic();
    const isWanted = request.state !== "open" || (untilAskedBack && isAskedBack(request));
    if (isWanted || leftMs <= 0 || ctx.stopping.aborted || signal.aborted) return request;
    const dueMs = isFrozen ? THAWED_WITHIN_MS : untilDueMs(ctx, request);
    await changes.next(Math.min(leftMs, dueMs));
  }
}

/** The messages sent about a request, the decisions counted, and everybody named in them. */
export interface RequestDetails {
  deliveries: readonly Delivery[];
  decisions: readonly Counted[];
  /** By id of the person. */
  humans: ReadonlyMap<string, Human>;
  /** The report about the approved call; undefined without one. */
  callOutcome: CallOutcome | undefined;
}

export async function readDetails(ctx: Pick<Context, "db">, request: Request): Promise<RequestDetails> {
  const isApproved = request.outcome?.approved === true;
  const [deliveries, decisions, callOutcome] = await Promise.all([
    listDeliveries(ctx.db, request.id),
    store.listDecisionsSoFar(ctx.db, request),
    isApproved ? findCallOutcome(ctx.db, request.id) : undefined,
  ]);
  return {
    deliveries,
    decisions,
    callOutcome,
    humans: await findHumans(ctx.db, peopleIn(request, deliveries, decisions)),
  };
}

function peopleIn(request: Request, deliveries: readonly Delivery[], decisions: readonly Counted[]): string[] {
  const asked = leavesOf(request.audience).flatMap(({ target }) => {
    if (target.via === "person") return [target.person];
    return target.via === "webhook" ? target.people : [];
  });
  const deciders = [request.outcome?.by, ...decisions.map(({ decision }) => decision.by)];
  const decided = deciders.flatMap((by) => (by?.kind === "person" ? [by.id] : []));
  const notified = deliveries.flatMap(({ person }) => (person === null ? [] : [person]));
  const refused = request.refused ? [request.refused.responder] : [];
  const pressed = (request.presses ?? []).map(({ person }) => person);
  const inquired = (request.inquiries ?? []).map(({ person }) => person);
  return [...new Set([...asked, ...decided, ...pressed, ...inquired, ...notified, ...refused])];
}

/** Returns one page of open requests, oldest first. */
export async function listPending(
  ctx: Context,
  of: { asker?: string; person?: string; conversation?: number; kinds?: store.Kinds },
  page: { limit: number; offset: number },
): Promise<{ items: Request[]; total: number }> {
  const { person, ...rest } = of;
  const readers = person === undefined ? {} : { readers: await readersFor(ctx.db, person) };
  const { items, total } = await store.listPending(ctx.db, { ...rest, ...readers }, page);
  return { items: items.map(shownToAgent), total };
}

/**
 * Returns a request that is in the person's inbox.
 *
 * @throws {Refusal} `request_not_found` also for somebody else's, and for a call of a plan
 */
export async function readInInbox(ctx: Context, person: string, requestId: RequestId): Promise<Request> {
  if (!(await store.isReader(ctx.db, requestId, await readersFor(ctx.db, person))))
    throw new Refusal("request_not_found");
  const request = await readForPeople(ctx, requestId);
  if (request.plan !== undefined) throw new Refusal("request_not_found");
  return request;
}

/** Returns the names under which requests are addressed to a person. */
export async function readersFor(on: Queryable, person: string): Promise<string[]> {
  const human = await findHuman(on, person);
  const identities = await listIdentities(on, person);
  const isOnSlack = identities.some(({ kind }) => kind === "slack");
  return [
    person,
    ...identities.map(readerOf),
    ...(isOnSlack ? [SLACK_READERS] : []),
    ...(human?.seesAll ? [ALL_READERS] : []),
  ];
}
