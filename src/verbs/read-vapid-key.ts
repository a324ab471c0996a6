import type { Context } from "../context.ts";
import { findSecret } from "../store/sealed-secrets.ts";

/** The name under which the server's push key pair is sealed: a private P-256 JWK. */
export const VAPID_SECRET = "vapid";

/** Returns the public key that browsers subscribe with: the raw, uncompressed P-256 point, base64url (RFC 8292). */
export async function readVapidKey(ctx: Pick<Context, "db" | "keyring">): Promise<string> {
  const secret = await findSecret(ctx.db, ctx.keyring, VAPID_SECRET);
  if (secret === null) throw new Error("the push keys of the first start are missing");
  const { x, y } = JSON.parse(secret) as { x: string; y: string };
  const point = [Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
  return Buffer.concat(point).toString("base64url");
}
