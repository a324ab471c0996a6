import type { Context } from "../../context.ts";
import type { Scope } from "../../lib/secrets/key-text.ts";
import { openTokenBuckets, type TokenBuckets } from "../../lib/token-bucket.ts";
import { Refusal } from "../../refusals.ts";
import type { DoorContext, FastifyRequest } from "../http/door.ts";
import { keyHolder } from "../http/principals.ts";

/** The caller of the relay (spec/relay 1). */
export interface RelayCaller {
  scope: Scope;
  /** The owner of the jobs and asks. */
  principal: string;
  /** The name of its key, as people know it. */
  name: string;
  /** The person of the key; null for a service's key. */
  person: string | null;
  /** Without a key, while open mode is on. */
  isOpen: boolean;
}

/**
 * Returns who speaks, if its key is good for one of these scopes; it counts as one request. Without a key, in open mode,
 * it is an executor.
 *
 * @throws {Refusal} `key_required`, `scope_missing`, `rate_limited`
 */
export async function callerOf(
  door: DoorContext,
  http: FastifyRequest,
  scopes: readonly [Scope, ...Scope[]],
): Promise<RelayCaller> {
  const caller = await anyCaller(door, http);
  if (!scopes.includes(caller.scope)) throw new Refusal("scope_missing", { scope: scopes[0] });
  if (!turnsOf(door.ctx).take(caller.principal)) {
    const limit = door.ctx.relay.requestsPerSecond;
    throw new Refusal("rate_limited", { limit, window_seconds: 1, retry_after: 1 });
  }
  return caller;
}

/** The requests of each principal, counted on this node. */
const turns = new WeakMap<Context, TokenBuckets>();

function turnsOf(ctx: Context): TokenBuckets {
  const { requestsPerSecond: perSecond } = ctx.relay;
  const known = turns.get(ctx) ?? openTokenBuckets(ctx.clock, { perSecond, burst: 2 * perSecond });
  turns.set(ctx, known);
  return known;
}

async function anyCaller(door: DoorContext, http: FastifyRequest): Promise<RelayCaller> {
  const key = await keyHolder(door, http);
  if ("open" in key) return { scope: "executor", principal: key.open, name: key.open, person: null, isOpen: true };
  const { scope, principal, name, person } = key;
  return { scope, principal, name, person, isOpen: false };
}
