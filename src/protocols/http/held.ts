import { WAIT_OVER } from "../../lib/abort-hub.ts";
import { Refusal } from "../../refusals.ts";
import { areGood, followCredentials } from "../../access/follow-credentials.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "./door.ts";

/** True while the keys and the session that let a request in are good. */
export async function isStillGood({ ctx }: DoorContext, { facts }: FastifyRequest): Promise<boolean> {
  return areGood(ctx, facts.shown ?? []);
}

/** Calls `end` once a key or the session that let a request in is good no more, until it is disposed of. */
export function whenNoLongerGood({ ctx }: DoorContext, { facts }: FastifyRequest, end: () => void): Disposable {
  return followCredentials(ctx, facts.shown ?? [], end);
}

/**
 * Returns what a request waited for. The wait ends when the client has gone or what let it in is good no more.
 *
 * @throws {Refusal} `key_required` when a key was revoked or a session ended meanwhile: its holder gets nothing more
 */
export async function held<T>(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const end = () => over.abort(WAIT_OVER);
  reply.raw.once("close", end);
  if (reply.raw.destroyed) end();
  using _watch = whenNoLongerGood(door, http, end);
  const found = await wait(over.signal);
  reply.raw.off("close", end);
  if (!(await isStillGood(door, http))) throw new Refusal("key_required");
  return found;
}
