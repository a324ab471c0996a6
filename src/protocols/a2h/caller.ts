import { Refusal } from "../../refusals.ts";
import type { DoorContext, FastifyRequest } from "../http/door.ts";
import { keyHolder, personOfSession, showsKey, type Administrator } from "../http/principals.ts";

/** The caller, as this protocol distinguishes them (spec/a2h 2). */
export type A2hCaller =
  | {
      scope: "agent";
      /** The owner of the objects. */
      principal: string;
      /** Without a key: reaches people in the inbox alone. */
      isOpen: boolean;
      /** May answer what it asked itself. */
      selfRespond: boolean;
      /** The key's channel for requests that name no recipient. */
      channel: string | null;
      /** The one conversation its key is good for. */
      conversation: number | null;
    }
  | { scope: "answer"; principal: string; person: string }
  | {
      scope: "admin";
      principal: string;
      /** As the record names them. */
      by: Administrator;
    };

export type CallerScope = A2hCaller["scope"];

/** An agent, or somebody who speaks for one. */
export type AgentCaller = Extract<A2hCaller, { scope: "agent" }>;

/** Returns what an agent may read: everything of its own, or with a key of one conversation what is part of that. */
export function ownOf({ principal, conversation }: AgentCaller): { agent: string; conversation?: number } {
  return { agent: principal, ...(conversation !== null && { conversation }) };
}

/**
 * Returns who speaks, if it is somebody of one of these scopes. Where admins are welcome, an admin's own session does as
 * well as an `admin` key: that is how the console administers.
 *
 * @throws {Refusal} `key_required`, `scope_missing`, `origin_refused`
 */
export async function callerFrom<Scope extends CallerScope>(
  door: DoorContext,
  http: FastifyRequest,
  scopes: readonly [Scope, ...Scope[]],
): Promise<Extract<A2hCaller, { scope: Scope }>> {
  const welcome = scopes.some((scope) => scope === "admin");
  const caller = (welcome && (await signedInAdmin(door, http))) || (await anyCaller(door, http));
  if (!caller || !scopes.some((scope) => scope === caller.scope)) {
    throw new Refusal("scope_missing", { scope: scopes[0] });
  }
  return caller as Extract<A2hCaller, { scope: Scope }>;
}

/** A request that names an agent, or shows a key, speaks for that. */
async function signedInAdmin(door: DoorContext, http: FastifyRequest): Promise<A2hCaller | null> {
  if (showsKey(http) || http.headers["x-agent-id"] !== undefined) return null;
  const person = await personOfSession(door, http);
  if (person?.role !== "admin") return null;
  return { scope: "admin", principal: `person:${person.id}`, by: { kind: "human", id: person.id } };
}

async function anyCaller(door: DoorContext, http: FastifyRequest): Promise<A2hCaller | null> {
  const key = await keyHolder(door, http, { bound: true });
  if ("open" in key) {
    const nothing = { selfRespond: false, channel: null, conversation: null };
    return { scope: "agent", principal: key.open, isOpen: true, ...nothing };
  }
  const { scope, principal, person, selfRespond, channel, conversation } = key;
  if (scope === "agent") return { scope, principal, isOpen: false, selfRespond, channel, conversation };
  if (scope === "answer") return person === null ? null : { scope, principal, person };
  return scope === "admin" ? { scope, principal, by: { kind: "admin", id: principal } } : null;
}

/** Returns whoever speaks as the record names them. */
export function actorOf(
  caller: Extract<A2hCaller, { scope: "agent" | "admin" }>,
): { kind: "agent"; id: string } | Administrator {
  return caller.scope === "admin" ? caller.by : { kind: "agent", id: caller.principal };
}
