import type { Context } from "../context.ts";
import { listNumbered, type Person } from "../store/people.ts";
import { countSignIns } from "../store/sign-ins.ts";

/** Somebody with a name here, as admins see them beside what their humans' view says. */
export interface ListedPerson extends Person {
  /** What names them as a human. */
  number: number;
  /** In how many browsers they are signed in. */
  sessions: number;
}

/** Returns everybody with a name here, in the order of their numbers. */
export async function listPeopleAndSessions(ctx: Pick<Context, "db">): Promise<ListedPerson[]> {
  const [people, sessions] = await Promise.all([listNumbered(ctx.db), countSignIns(ctx.db)]);
  return people.map((person) => ({ ...person, sessions: sessions.get(person.id) ?? 0 }));
}
