import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import { reachByMail } from "./enroll-human.ts";
import { lockHumans } from "./store/humans.ts";
import { insertPerson, listPeople as list, type Person, type PersonRole } from "./store/people.ts";
import { transact } from "../core/store/transact.ts";

/**
 * The person is known here, can be sent a sign-in link, and is asked by mail where there is an address.
 *
 * @throws {Refusal} `invalid_input`, also for an address that is somebody else's; then nobody was added
 */
export async function addPerson(
  ctx: Pick<Context, "db" | "wake">,
  { name, role, email }: { name: string; role: PersonRole; email?: string | undefined },
  by?: Actor,
): Promise<Person> {
  if (!name.trim() || name.length > 200 || /[\p{Cc}\p{Cs}]/u.test(name)) {
    const says = "A person's name is 1 to 200 characters, without control characters.";
    throw new Refusal("invalid_input", { field: "name", constraint: "format" }, says);
  }
  return transact(ctx, async (tx) => {
    if (email !== undefined) await lockHumans(tx);
    const person = await insertPerson(tx, { name: name.trim(), role });
    if (by) await appendAudit(tx, { actor: by, action: "human.created", data: { person: person.id, role } });
    if (email !== undefined) await reachByMail(tx, person.id, email, by);
    return person;
  });
}

/** Returns everybody with a name here, in the order of their numbers. */
export async function listPeople(ctx: Pick<Context, "db">): Promise<Person[]> {
  return list(ctx.db);
}
