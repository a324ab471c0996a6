import type { ReceiptPayload } from "./wire.ts";

/** The public keys that sign a server's receipts, as its `/.well-known/jwks.json` says them (RFC 7517). */
export interface ReceiptKeys {
  keys: readonly { kid?: string; crv?: string; x?: string }[];
}

/** The name of EdDSA by Curve25519 in the Web Cryptography API. */
const ED25519 = "Ed25519";

/** Returns what a receipt says, whoever signed it. */
export function payloadOf(receipt: string): Partial<ReceiptPayload> {
  return (jsonOf(receipt.split(".")[1] ?? "") ?? {}) as Partial<ReceiptPayload>;
}

/** True where signatures of receipts can be verified; some browsers and runtimes still know no Ed25519. */
export async function canVerify(): Promise<boolean> {
  try {
    await crypto.subtle.generateKey(ED25519, false, ["sign", "verify"]);
    return true;
  } catch {
    return false;
  }
}

/** True when one of these keys has signed exactly this (RFC 7515, RFC 8037). Call it only where `canVerify`. */
export async function isSigned(receipt: string, { keys }: ReceiptKeys): Promise<boolean> {
  const [head = "", payload = "", signature = "", ...more] = receipt.trim().split(".");
  const header = jsonOf(head) as { alg?: unknown; kid?: unknown; crit?: unknown } | null;
  // Whoever does not understand what `crit` lists may not go by such a signature.
  if (more.length > 0 || header?.alg !== "EdDSA" || header.crit !== undefined || !Array.isArray(keys)) return false;
  const key = (keys as ReceiptKeys["keys"]).find(({ kid, crv }) => kid === header.kid && crv === ED25519);
  try {
    const known = await crypto.subtle.importKey("raw", bytesOf(key?.x ?? ""), ED25519, false, ["verify"]);
    const signed = new TextEncoder().encode(`${head}.${payload}`);
    return await crypto.subtle.verify(ED25519, known, bytesOf(signature), signed);
  } catch {
    return false;
  }
}

function jsonOf(part: string): object | null {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytesOf(part)))) as object;
  } catch {
    return null;
  }
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const bytes = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
}
