import { Refusal } from "../../refusals.ts";
import type { DoorContext, FastifyRequest } from "../door.ts";
import { keyHolder } from "../door-principals.ts";

/** Who speaks, as far as this protocol knows (contract-a2h.md, section 2). */
export type A2hCaller =
  | {
      scope: "agent";
      /** Whose the objects are. */
      principal: string;
      /** Without a key: reaches people in the inbox alone. */
      isOpen: boolean;
      /** May answer what it asked itself. */
      selfRespond: boolean;
    }
  | { scope: "answer"; principal: string; person: string }
  | { scope: "admin"; principal: string };

export type CallerScope = A2hCaller["scope"];

/**
 * Returns who speaks, if it is somebody of one of these scopes.
 *
 * @throws {Refusal} `key_required`, `scope_missing`
 */
export async function callerFrom<Scope extends CallerScope>(
  door: DoorContext,
  request: FastifyRequest,
  scopes: readonly [Scope, ...Scope[]],
): Promise<Extract<A2hCaller, { scope: Scope }>> {
  const caller = await anyCaller(door, request);
  if (!caller || !scopes.some((scope) => scope === caller.scope)) {
    throw new Refusal("scope_missing", { scope: scopes[0] });
  }
  return caller as Extract<A2hCaller, { scope: Scope }>;
}

async function anyCaller(door: DoorContext, request: FastifyRequest): Promise<A2hCaller | null> {
  const key = await keyHolder(door, request);
  if ("open" in key) return { scope: "agent", principal: key.open, isOpen: true, selfRespond: false };
  const { scope, principal, person, selfRespond } = key;
  if (scope === "agent") return { scope, principal, isOpen: false, selfRespond };
  if (scope === "answer") return person === null ? null : { scope, principal, person };
  return scope === "admin" ? { scope, principal } : null;
}
