import { noteInquiriesTold } from "../../requests/inbox/inquire.ts";
import type { Request } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import { renewLeases } from "../../requests/wait/waits.ts";
import {
  readRequest,
  readAnyByRef,
  readByRef,
  readDetails,
  readInInbox,
  waitForRequest,
} from "../../requests/read/read-request.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import { held } from "../http/held.ts";
import { LimitRefusal } from "../../core/limits.ts";
import type { A2hCaller, AgentCaller } from "./caller.ts";
import { nameOf } from "./print.ts";
import { queryNumber } from "./route.ts";
import { CALL_ID } from "../../wire/a2h/new-request.ts";
import { isOfKind, refsOf, type RefKind } from "./written.ts";

const ASK_ID = /^ask_[0-9A-Za-z]{1,60}$/;
const MOST_WAIT_S = 55;

/**
 * Returns the request that a caller may see under an id: an agent its own, a person those addressed to them, an admin
 * any. Keys that are not agents' may name it by ask id too.
 *
 * @throws {Refusal} `request_not_found` also for somebody else's; `ref_ambiguous`
 */
export async function findOwnRequest(
  { ctx }: DoorContext,
  caller: A2hCaller,
  kind: RefKind,
  id: string,
): Promise<Request> {
  if (!CALL_ID.test(id)) throw new Refusal("request_not_found");
  const refs = refsOf(kind, id);
  if (caller.scope === "agent") {
    const ways = refs.map((ref) => () => readByRef(ctx, caller.principal, ref));
    return within(await firstOf(kind, ways), caller);
  }
  const byId = ASK_ID.test(id) ? [() => readRequest(ctx, id)] : [];
  const request = await firstOf(kind, [...byId, ...refs.map((ref) => () => readAnyByRef(ctx, ref))]);
  return caller.scope === "answer" ? readInInbox(ctx, caller.person, request.id) : request;
}

/** Returns what the first of these ways leads to that leads to anything of this kind. @throws {Refusal} `request_not_found` */
async function firstOf(kind: RefKind, ways: readonly (() => Promise<Request>)[]): Promise<Request> {
  for (const way of ways) {
    try {
      const request = await way();
      if (isOfKind(request, kind)) return request;
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== "request_not_found") throw error;
    }
  }
  throw new Refusal("request_not_found");
}

/** A key of one conversation sees nothing of the others. */
export function within(request: Request, { conversation }: AgentCaller): Request {
  if (conversation !== null && request.conversation !== conversation) throw new Refusal("request_not_found");
  return request;
}

/**
 * Returns the request once it is over, or as it is after the seconds the query names; too many waits are not held.
 *
 * @throws {Refusal} `key_required` when its key was revoked meanwhile
 */
export async function awaited(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
  { caller, request }: { caller: A2hCaller; request: Request },
): Promise<Request> {
  const waitS = queryNumber(http, "wait", { min: 0, max: MOST_WAIT_S, usual: 0 });
  // People and admins may wait too, which tells the agent nothing, and nothing of the agent.
  const isAgent = caller.scope === "agent";
  if (waitS === 0 || request.state !== "open") return isAgent ? noteInquiriesTold(door.ctx, request) : request;
  const isWaitedFor = isAgent && request.waitedUntil !== undefined;
  let place: Disposable;
  try {
    place = door.limiter.enter("long-polls", request.asker, door.config.limits.longPolls);
  } catch (error) {
    if (!(error instanceof LimitRefusal)) throw error;
    if (isWaitedFor) await renewLeases(door.ctx, [request.id]);
    return request;
  }
  using _place = place;
  using _wait = isWaitedFor ? door.ctx.openWaits.add(request.id) : null;
  // Both end with the wait, and not with this line.
  return await held(door, http, reply, async (signal) => {
    const options = { waitMs: waitS * 1000, signal, untilAskedBack: isAgent };
    const waited = await waitForRequest(door.ctx, request.id, options);
    return isAgent && !signal.aborted ? noteInquiriesTold(door.ctx, waited) : waited;
  });
}

/** Runs a decision or a cancel; where the request was answered before, says by whom. */
export async function tellingWho<T>({ ctx }: DoorContext, request: Request, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "already_decided") throw error;
    const now = await readRequest(ctx, request.id);
    const by = nameOf(now, await readDetails(ctx, now));
    throw new Refusal("already_decided", { ...error.details, ...(by !== undefined && { by_name: by }) });
  }
}
