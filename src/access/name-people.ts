import type { Context } from "../context.ts";
import { findHumans } from "./store/humans.ts";

/** Returns the names of these people, by id; a person who is not known here is left out. */
export async function namePeople(
  ctx: Pick<Context, "db">,
  people: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const humans = await findHumans(ctx.db, [...new Set(people)]);
  return new Map([...humans].map(([id, { name }]) => [id, name]));
}
