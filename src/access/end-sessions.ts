import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import { findPerson } from "./store/people.ts";
import { deleteSignInsOf } from "./store/sign-ins.ts";
import { transact } from "../core/store/transact.ts";

/**
 * Signs the person out everywhere. No sign-in link made so far works, and no device receives their requests by way of a
 * session. Keys are not touched (spec/security 10).
 *
 * @throws {Refusal} `person_not_found`
 */
export async function endSessions(ctx: Pick<Context, "db" | "wake">, person: string, by: Actor): Promise<void> {
  await transact(ctx, async (tx) => {
    if (!(await findPerson(tx, person))) throw new Refusal("person_not_found", { person });
    await deleteSignInsOf(tx, person);
    await appendAudit(tx, { actor: by, action: "human.signed_out", data: { person } });
  });
}
