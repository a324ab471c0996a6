import type { Context } from "../context.ts";
import { sha256Hex } from "../lib/keyring.ts";
import { Refusal } from "../refusals.ts";
import { findPerson } from "../store/people.ts";
import { insertCode } from "../store/sign-ins.ts";
import { transact } from "../store/transact.ts";

/**
 * Returns a code that signs the person in once, within 30 minutes; only its SHA-256 is stored.
 *
 * It belongs in the fragment of a link, which no server, proxy or log ever sees.
 *
 * @throws {Refusal} `person_not_found`
 */
export async function createSignInLink(
  ctx: Pick<Context, "db" | "wake" | "random">,
  person: string,
): Promise<{ code: string; expiresAt: number }> {
  const code = Buffer.from(ctx.random(32)).toString("base64url");
  return transact(ctx, async (tx) => {
    if (!(await findPerson(tx, person))) throw new Refusal("person_not_found", { person });
    return { code, expiresAt: await insertCode(tx, sha256Hex(code), person) };
  });
}
