import type { Context } from "../../context.ts";
import { listDistinctAskers } from "../../core/store/distinct-askers.ts";
import { findFreeze } from "../../policy/store/freezes.ts";
import { type AskerFigures, figuresOf } from "../model/asker-figures.ts";
import { findAskerNow, listCounted } from "../store/asker-figures.ts";

/** So many of an agent's newest requests are counted. */
const MOST_COUNTED = 100;

/** An agent, by what it asks people. */
export interface AskerState extends AskerFigures {
  askedAt: number | null;
  waiting: number;
  isFrozen: boolean;
}

/** Returns up to `limit` principals that ever asked named people, by name, after `after`. */
export async function listAskersOfPeople(
  { db }: Pick<Context, "db">,
  page: { after: string; limit: number },
): Promise<string[]> {
  return listDistinctAskers(db, "requests", page);
}

/** Returns how an agent does that asks named people: when it asked last, what waits, how its newest 100 requests ended. */
export async function readAsker({ db }: Pick<Context, "db">, asker: string): Promise<AskerState> {
  const [now, counted, frozen] = await Promise.all([
    findAskerNow(db, asker),
    listCounted(db, asker, MOST_COUNTED),
    findFreeze(db, asker),
  ]);
  return { ...now, ...figuresOf(counted), isFrozen: frozen !== undefined };
}
