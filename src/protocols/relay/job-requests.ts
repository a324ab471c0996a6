import type { Scope } from "../../lib/secrets/key-text.ts";
import { Refusal } from "../../refusals.ts";
import type { Writer } from "../../asks/jobs/hold-job.ts";
import { JOB_STATES, type JobState } from "../../asks/model/ask.ts";
import type { JobReader } from "../../asks/jobs/read-job.ts";
import type { DoorContext, FastifyRequest } from "../http/door.ts";
import { queryText } from "../http/query.ts";
import { callerOf, type RelayCaller } from "./caller.ts";
import { RELAY_ID } from "../../wire/relay/fields.ts";
import { queryChoice } from "./request.ts";

/** The scopes of keys that may read jobs: all but those that only answer. */
export const JOB_READERS = ["executor", "agent", "assign", "admin"] as const satisfies readonly Scope[];

/**
 * Returns who speaks, if its key is good for one of these scopes and the relay is on.
 *
 * @throws {Refusal} `key_required`, `scope_missing`, `feature_disabled`
 */
export async function enter(
  door: DoorContext,
  http: FastifyRequest,
  scopes: readonly [Scope, ...Scope[]],
): Promise<RelayCaller> {
  const caller = await callerOf(door, http, scopes);
  if (door.ctx.relay.feature === false) throw new Refusal("feature_disabled");
  return caller;
}

/** Returns the job that the path names; one that cannot be is unknown. @throws {Refusal} `job_not_found` */
export function jobIdOf(http: FastifyRequest): string {
  const { id } = http.params as { id: string };
  if (!RELAY_ID.test(id)) throw new Refusal("job_not_found");
  return id;
}

/** Returns the ask that the path names; one that cannot be is unknown. @throws {Refusal} `ask_not_found` */
export function askIdOf(http: FastifyRequest): string {
  const { id } = http.params as { id: string };
  if (!RELAY_ID.test(id)) throw new Refusal("ask_not_found");
  return id;
}

/** Returns the states of jobs that a query names. @throws {Refusal} `invalid_input` */
export function statesOf(http: FastifyRequest): JobState[] | undefined {
  const states = queryText(http.query, "state")?.split(",");
  if (states?.some((state) => !JOB_STATES.includes(state as JobState))) {
    throw new Refusal("invalid_input", { field: "state", constraint: "enum", allowed: JOB_STATES });
  }
  return states as JobState[] | undefined;
}

/** Admins read everything, and nothing becomes theirs by it. */
export const ADMIN = { principal: "", readsAll: true, isAdmin: true } as const;

/** True where an admin asks to see everybody's (spec/relay 5.1). @throws {Refusal} `invalid_input` for another view */
export function isAdminView(http: FastifyRequest): boolean {
  return queryChoice(http, "view", ["admin"]) === "admin";
}

export function readerOf({ principal, scope }: RelayCaller): JobReader {
  return { principal, isAdmin: scope === "admin" };
}

/** Returns who would write in a job's name, and the lease it shows. */
export function writerOf(http: FastifyRequest, { principal }: RelayCaller): Writer {
  const lease = http.headers["parley-lease"];
  return { principal, lease: typeof lease === "string" ? lease : undefined };
}
