import { findHuman } from "../../access/store/humans.ts";
import type { Context } from "../../context.ts";
import type { Queryable } from "../../core/store/db.ts";
import { printable } from "../../lib/printable.ts";
import type { Request, CountedDecision, DecidedBy } from "../model/request.ts";
import { listDecisions } from "../store/requests.ts";

/** A decision of a person or a rule, with the name as people may see it. */
export type NamedDecision = Pick<CountedDecision, "by" | "at" | "approved" | "comment" | "digest"> & { name: string };

/** Returns who decided a request, in their order. */
export async function readDecided({ db }: Pick<Context, "db">, request: Request): Promise<readonly NamedDecision[]> {
  const decided = await decidedIn(db, request);
  return Promise.all(decided.map(async (one) => ({ ...one, name: await nameOf(db, one.by) })));
}

/** Returns the decisions on a request. A decision by a rule or a permanent permission is read from its trace. */
async function decidedIn(
  db: Queryable,
  { id, outcome, settledAt }: Request,
): Promise<readonly Omit<NamedDecision, "name">[]> {
  if (!outcome?.trace) return (await listDecisions(db, id)).map(({ decision }) => decision);
  if (!outcome.by || settledAt === null) return [];
  return [{ by: outcome.by, at: settledAt, approved: outcome.approved ?? null }];
}

async function nameOf(db: Queryable, { kind, id, via }: DecidedBy): Promise<string> {
  if (kind === "policy") return printable(`The rule ${id}`);
  if (kind === "agent") return "The agent";
  if (kind === "address") return "Somebody who is not enrolled here";
  const name = printable((await findHuman(db, id))?.name ?? `Person ${id}`);
  return via === "policy" ? `${name}, who allowed exactly this earlier` : name;
}
