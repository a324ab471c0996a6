import type { Context } from "../context.ts";
import { sha256Hex } from "../lib/keyring.ts";
import { deleteSignIn } from "./store/sign-ins.ts";
import { transact } from "../core/store/transact.ts";

/** The session is over, if it was one, and nobody is told there any more of what its person is asked. */
export async function signOut(ctx: Pick<Context, "db" | "wake">, token: string): Promise<void> {
  await transact(ctx, (tx) => deleteSignIn(tx, sha256Hex(token)));
}
