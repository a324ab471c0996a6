import type { Context } from "../context.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import { deleteSignIn } from "./store/sign-ins.ts";
import { transact } from "../core/store/transact.ts";

/** Ends the session, if it was one, and the notifications of its person's requests under it. */
export async function signOut(ctx: Pick<Context, "db" | "wake">, token: string): Promise<void> {
  await transact(ctx, (tx) => deleteSignIn(tx, sha256Hex(token)));
}
