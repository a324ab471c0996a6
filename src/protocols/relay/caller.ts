import { Refusal } from "../../refusals.ts";
import type { Scope } from "../../lib/key-text.ts";
import type { DoorContext, FastifyRequest } from "../door.ts";
import { keyHolder } from "../door-principals.ts";

/** Who speaks to the relay (contract-relay.md, section 1). */
export interface RelayCaller {
  scope: Scope;
  /** Whose the jobs and asks are. */
  principal: string;
  /** The name of its key, as people know it. */
  name: string;
  /** Whom the key stands for; null for a service's. */
  person: string | null;
  /** Without a key, while open mode is on. */
  isOpen: boolean;
}

/**
 * Returns who speaks, if its key is good for one of these scopes. Without a key, in open mode, it is an executor.
 *
 * @throws {Refusal} `key_required`, `scope_missing`
 */
export async function callerOf(
  door: DoorContext,
  request: FastifyRequest,
  scopes: readonly [Scope, ...Scope[]],
): Promise<RelayCaller> {
  const caller = await anyCaller(door, request);
  if (!scopes.includes(caller.scope)) throw new Refusal("scope_missing", { scope: scopes[0] });
  return caller;
}

async function anyCaller(door: DoorContext, request: FastifyRequest): Promise<RelayCaller> {
  const key = await keyHolder(door, request);
  if ("open" in key) return { scope: "executor", principal: key.open, name: key.open, person: null, isOpen: true };
  const { scope, principal, name, person } = key;
  return { scope, principal, name, person, isOpen: false };
}
