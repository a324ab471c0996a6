import { generateKeyPairSync } from "node:crypto";
import type { Context } from "../context.ts";
import { findSecret, insertSecretIfNew } from "../core/store/sealed-secrets.ts";
import { transact } from "../core/store/transact.ts";

/** The name under which the server's push key pair is sealed: a private P-256 JWK. */
const VAPID_SECRET = "vapid";

/**
 * Returns the public key that browsers subscribe with: the raw, uncompressed P-256 point, base64url (RFC 8292).
 *
 * The pair is made when it is first wanted; of several servers that make one at once, one's stands.
 */
export async function readVapidKey(ctx: Pick<Context, "db" | "wake" | "keyring">): Promise<string> {
  return (await readVapidPair(ctx)).publicKey;
}

/** Returns the whole pair, the private key as the raw scalar, base64url. */
export async function readVapidPair(
  ctx: Pick<Context, "db" | "wake" | "keyring">,
): Promise<{ publicKey: string; privateKey: string }> {
  const secret = (await findSecret(ctx.db, ctx.keyring, VAPID_SECRET)) ?? (await makePair(ctx));
  const { x, y, d } = JSON.parse(secret) as { x: string; y: string; d: string };
  const point = [Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
  return { publicKey: Buffer.concat(point).toString("base64url"), privateKey: d };
}

async function makePair(ctx: Pick<Context, "db" | "wake" | "keyring">): Promise<string> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const fresh = JSON.stringify(privateKey.export({ format: "jwk" }));
  return transact(ctx, async (tx) => {
    await insertSecretIfNew(tx, ctx.keyring, VAPID_SECRET, fresh);
    return (await findSecret(tx, ctx.keyring, VAPID_SECRET)) ?? fresh;
  });
}
