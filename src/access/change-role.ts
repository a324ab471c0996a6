import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import { endSubscriptionsOf } from "./store/bound-subscriptions.ts";
import { revokeKeysOf } from "./store/keys.ts";
import { findOperator, findPerson, updateRole, type Person, type PersonRole } from "./store/people.ts";
import { transact } from "../core/store/transact.ts";

/**
 * Makes the person an admin of this server, or no longer: then their `admin` keys end too. A changed role ends the
 * notifications to their devices, until they subscribe anew.
 *
 * @throws {Refusal} `person_not_found`, `invalid_input` for the person who runs the server, so that one admin remains
 */
export async function changeRole(
  ctx: Pick<Context, "db" | "wake">,
  { person: id, role }: { person: string; role: PersonRole },
  by: Actor,
): Promise<Person> {
  return transact(ctx, async (tx) => {
    if (role !== "admin" && (await findOperator(tx))?.id === id) {
      const says = "Whoever runs this server stays an admin.";
      throw new Refusal("invalid_input", { field: "role", constraint: "excluded" }, says);
    }
    const former = await findPerson(tx, id);
    const person = await updateRole(tx, id, role);
    if (!person) throw new Refusal("person_not_found", { person: id });
    if (role !== "admin") await revokeKeysOf(tx, id, "admin");
    if (former?.role !== role) await endSubscriptionsOf(tx, id);
    await appendAudit(tx, { actor: by, action: "human.updated", data: { person: id, role } });
    return person;
  });
}
