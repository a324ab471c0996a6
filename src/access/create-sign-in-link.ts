import type { Context } from "../context.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import { findOperator, findPerson, type Person } from "./store/people.ts";
import { insertCode } from "./store/sign-ins.ts";
import { transact } from "../core/store/transact.ts";

/**
 * Returns a code that signs the person in once, within 30 minutes; only its SHA-256 is stored. Without a name, the
 * person is the operator of the server.
 *
 * It belongs in the fragment of a link, which no server, proxy or log ever sees. The record names its maker, where one
 * is given: everybody who opens the link acts as the person.
 *
 * @throws {Refusal} `person_not_found`
 */
export async function createSignInLink(
  ctx: Pick<Context, "db" | "wake" | "random">,
  named: string | undefined,
  by?: Actor,
): Promise<{ code: string; person: Person; expiresAt: number }> {
  const code = Buffer.from(ctx.random(32)).toString("base64url");
  return transact(ctx, async (tx) => {
    const person = named === undefined ? await findOperator(tx) : await findPerson(tx, named);
    if (!person) throw new Refusal("person_not_found", { person: named ?? null });
    if (by) await appendAudit(tx, { actor: by, action: "human.sign_in_link_created", data: { person: person.id } });
    return { code, person, expiresAt: await insertCode(tx, sha256Hex(code), person.id) };
  });
}
