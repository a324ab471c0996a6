import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import { insertPerson, listPeople as list, type Person, type Role } from "./store/people.ts";
import { transact } from "../core/store/transact.ts";

/** The person is known here, and can be sent a sign-in link. @throws {Refusal} `invalid_input` */
export async function addPerson(
  ctx: Pick<Context, "db" | "wake">,
  { name, role }: { name: string; role: Role },
  by?: Actor,
): Promise<Person> {
  if (!name.trim() || name.length > 200 || /[\p{Cc}\p{Cs}]/u.test(name)) {
    const says = "A person's name is 1 to 200 characters, without control characters.";
    throw new Refusal("invalid_input", { field: "name", constraint: "format" }, says);
  }
  return transact(ctx, async (tx) => {
    const person = await insertPerson(tx, { name: name.trim(), role });
    if (by) await appendAudit(tx, { actor: by, action: "human.created", data: { person: person.id, role } });
    return person;
  });
}

/** Returns everybody with a name here, in the order of their numbers. */
export async function listPeople(ctx: Pick<Context, "db">): Promise<Person[]> {
  return list(ctx.db);
}
