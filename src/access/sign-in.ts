import type { Context } from "../context.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import { Refusal } from "../refusals.ts";
import { findPerson, type Person } from "./store/people.ts";
import { deleteSignIn, insertSignIn, spendCode } from "./store/sign-ins.ts";
import { transact } from "../core/store/transact.ts";
import { chargeLimit } from "../core/limits.ts";

export interface SignInRequest {
  code: string;
  /** The session this one replaces. */
  formerToken?: string | undefined;
  /** The key by which tries are counted: a hash of the caller's address; left out for callers on this computer. */
  countedBy?: string | undefined;
}

const TRIES_PER_HOUR = 10;

/**
 * The code is spent and its person signed in: returns the session's token, of which only the SHA-256 is stored.
 *
 * @throws {Refusal} `sign_in_refused`, `rate_limited`
 */
export async function signIn(
  ctx: Pick<Context, "db" | "wake" | "random">,
  { code, formerToken, countedBy }: SignInRequest,
): Promise<{ token: string; person: Person }> {
  // Counted in a transaction of its own: a refused try must stay counted.
  if (countedBy !== undefined) {
    await transact(ctx, (tx) => chargeLimit(tx, "sign-ins", countedBy, TRIES_PER_HOUR));
  }
  const token = Buffer.from(ctx.random(32)).toString("base64url");
  return transact(ctx, async (tx) => {
    const id = await spendCode(tx, sha256Hex(code));
    const person = id === undefined ? undefined : await findPerson(tx, id);
    if (!person) throw new Refusal("sign_in_refused");
    if (formerToken !== undefined) await deleteSignIn(tx, sha256Hex(formerToken));
    await insertSignIn(tx, sha256Hex(token), person.id);
    return { token, person };
  });
}
