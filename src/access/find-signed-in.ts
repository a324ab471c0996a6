import type { Context } from "../context.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import type { Person } from "./store/people.ts";
import { findSignIn, touchSignIn } from "./store/sign-ins.ts";
import { transact } from "../core/store/transact.ts";

/** Returns who is signed in with this session, or null. Being seen makes the session last another 30 days. */
export async function findSignedIn(
  ctx: Pick<Context, "db" | "wake">,
  token: string,
): Promise<{ person: Person } | null> {
  const hash = sha256Hex(token);
  const found = await findSignIn(ctx.db, hash);
  if (!found) return null;
  if (found.isSightingDue) await transact(ctx, (tx) => touchSignIn(tx, hash));
  return { person: found.person };
}
