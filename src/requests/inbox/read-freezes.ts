import { findPerson } from "../../access/store/people.ts";
import type { Context } from "../../context.ts";
import { covers, type Freeze, type FreezeActor, mayFreeze, readFreezes } from "../../policy/freezes.ts";
import { listAskers } from "../store/inbox.ts";
import { readersFor } from "../read/read-request.ts";

/** A freeze in force, as somebody sees it. */
export interface SeenFreeze {
  freeze: Freeze;
  byName: string;
  personName: string | null;
  /** The agents that it covers, of those whose requests wait for this person. */
  principals: readonly string[];
  mayThaw: boolean;
}

/**
 * Returns the freezes in force, the oldest first: all for an admin, else those of everything, of the person's own agents,
 * and of agents whose requests wait for the person. `by` is who would thaw them.
 */
export async function readFreezesFor(ctx: Context, by: FreezeActor, seesAll: boolean): Promise<SeenFreeze[]> {
  const freezes = await readFreezes(ctx);
  if (freezes.length === 0) return [];
  const { kind, id } = by.actor;
  const askers = kind === "human" ? await listAskers(ctx.db, await readersFor(ctx.db, id)) : [];
  const nameOf = async (person: string): Promise<string> => (await findPerson(ctx.db, person))?.name ?? person;
  const seen: SeenFreeze[] = [];
  for (const freeze of freezes) {
    const covered = await Promise.all(askers.map((asker) => covers(ctx.db, freeze, asker)));
    const principals = askers.filter((_, i) => covered[i]);
    const mayThaw = await mayFreeze(ctx.db, freeze, by);
    if (!seesAll && !mayThaw && freeze.scope !== "all" && principals.length === 0) continue;
    const byName = freeze.madeByKind === "human" ? await nameOf(freeze.madeBy) : freeze.madeBy;
    const personName = freeze.scope === "person" ? await nameOf(freeze.subject) : null;
    seen.push({ freeze, byName, personName, principals, mayThaw });
  }
  return seen;
}
