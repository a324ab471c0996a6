import type { AddressedAsk } from "../../model/addressed-ask.ts";
import { Refusal } from "../../refusals.ts";
import {
  readAddressed,
  readAnyByRef,
  readByRef,
  readDetails,
  readInInbox,
  waitForAddressed,
} from "../../verbs/read-addressed.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "../door.ts";
import { held } from "../door-held.ts";
import { LimitRefusal } from "../../verbs/limits.ts";
import type { A2hCaller, AgentCaller } from "./caller.ts";
import { DOOR } from "./create.ts";
import { nameOf } from "./print.ts";
import { queryNumber } from "./route.ts";
import { CALL_ID } from "./specs.ts";

/** The three kinds of request, as their refs begin. */
export type RefKind = "call" | "contact" | "message";

const ASK_ID = /^ask_[0-9A-Za-z]{1,60}$/;
const MOST_WAIT_S = 55;

/**
 * Returns the request that a caller may see under an id: an agent its own, a person those addressed to them, an admin
 * any. Keys that are not agents' may name it by ask id too.
 *
 * @throws {Refusal} `request_not_found` also for somebody else's; `ref_ambiguous`
 */
export async function findRequest(
  { ctx }: DoorContext,
  caller: A2hCaller,
  kind: RefKind,
  id: string,
): Promise<AddressedAsk> {
  if (!CALL_ID.test(id)) throw new Refusal("request_not_found");
  const ref = `${kind}:${id}`;
  if (caller.scope === "agent") return within(ours(await readByRef(ctx, caller.principal, ref), kind), caller);
  const ask = ours(ASK_ID.test(id) ? await readByEither() : await readAnyByRef(ctx, ref), kind);
  return caller.scope === "answer" ? readInInbox(ctx, caller.person, ask.id) : ask;

  function readByEither(): Promise<AddressedAsk> {
    return readAddressed(ctx, id).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === "request_not_found") return readAnyByRef(ctx, ref);
      throw error;
    });
  }
}

/** A key of one conversation sees nothing of the others. */
function within(ask: AddressedAsk, { conversation }: AgentCaller): AddressedAsk {
  if (conversation !== null && ask.conversation !== conversation) throw new Refusal("request_not_found");
  return ask;
}

/** Other doors' requests are nobody's here. */
function ours(ask: AddressedAsk, kind: RefKind): AddressedAsk {
  if (ask.door !== DOOR || !ask.ref.startsWith(`${kind}:`)) throw new Refusal("request_not_found");
  return ask;
}

/**
 * Returns the request once it is over, or as it is after the seconds the query names; too many waits are not held.
 *
 * @throws {Refusal} `key_required` when its key was revoked meanwhile
 */
export async function awaited(
  door: DoorContext,
  request: FastifyRequest,
  reply: FastifyReply,
  ask: AddressedAsk,
): Promise<AddressedAsk> {
  const waitS = queryNumber(request, "wait", { min: 0, max: MOST_WAIT_S, usual: 0 });
  if (waitS === 0 || ask.state !== "open") return ask;
  let place: Disposable;
  try {
    place = door.parked.park("long-polls", ask.asker, door.config.limits.longPolls);
  } catch (error) {
    if (error instanceof LimitRefusal) return ask;
    throw error;
  }
  using _place = place;
  return held(door, request, reply, (signal) => waitForAddressed(door.ctx, ask.id, { waitMs: waitS * 1000, signal }));
}

/** Runs a decision or a cancel; where the request was answered before, says by whom. */
export async function tellingWho<T>({ ctx }: DoorContext, ask: AddressedAsk, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "already_decided") throw error;
    const now = await readAddressed(ctx, ask.id);
    const by = nameOf(now, await readDetails(ctx, now));
    throw new Refusal("already_decided", { ...error.details, ...(by !== undefined && { by_name: by }) });
  }
}
