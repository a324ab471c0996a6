import type { Context } from "../context.ts";
import { insertSecretIfNew } from "./store/sealed-secrets.ts";

/**
 * Stores a secret that came with a request, encrypted, under a name that follows from it: the same one is stored once.
 * Returns the name, which does not reveal the secret (spec/a2h 5.3).
 */
export async function keepSecret(ctx: Pick<Context, "db" | "keyring">, kind: string, secret: string): Promise<string> {
  const name = secretName(ctx, kind, secret);
  await insertSecretIfNew(ctx.db, ctx.keyring, name, secret);
  return name;
}

/** Returns the name under which a secret is stored, or would be. */
export function secretName({ keyring }: Pick<Context, "keyring">, kind: string, secret: string): string {
  return `${kind}:${keyring.mac("secrets", `${kind} ${secret}`)}`;
}
