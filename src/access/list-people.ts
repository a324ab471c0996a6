import type { Context } from "../context.ts";
import { findOperator, listPeople, type Person } from "./store/people.ts";
import { countSignIns } from "./store/sign-ins.ts";

/** Somebody with a name here, as admins see them beside what their humans' view says. */
export interface ListedPerson extends Person {
  /** Whether they run this server, and stay an admin. */
  isOperator: boolean;
  /** In how many browsers they are signed in. */
  sessions: number;
}

/** Returns everybody with a name here, in the order of their numbers. */
export async function listPeopleAndSessions(ctx: Pick<Context, "db">): Promise<ListedPerson[]> {
  const { db } = ctx;
  const [people, sessions, operator] = await Promise.all([listPeople(db), countSignIns(db), findOperator(db)]);
  return people.map((person) => ({
    ...person,
    sessions: sessions.get(person.id) ?? 0,
    isOperator: person.id === operator?.id,
  }));
}
