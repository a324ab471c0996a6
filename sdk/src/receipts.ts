import type { ReceiptPayload } from "./wire.ts";

/**
 * The public keys that sign a server's receipts, as its `/.well-known/jwks.json` says them (RFC 7517). A retired key has
 * `exp`, in seconds since 1970: it has signed nothing that was settled from then on.
 */
export interface ReceiptKeys {
  keys: readonly { kid?: string; crv?: string; x?: string; exp?: number }[];
}

/** Returns the keys that sign now: every receipt that a server hands out is by one of these, however old its decision is. */
export function presentKeys({ keys }: ReceiptKeys): ReceiptKeys {
  return {
    keys: Array.isArray(keys) ? (keys as ReceiptKeys["keys"]).filter((key) => key && key.exp === undefined) : [],
  };
}

/** The approval that was asked for, which a receipt must be of. */
export interface ReceiptWanted {
  /** The id that the request was asked under, and the server's id of it. */
  callId: string;
  requestId: string;
  digest: string;
  /** Who asked, as receipts say it: one of these, and by a key with a name that is not known here `agent:`. */
  agents: readonly string[];
  /** When it was asked, in milliseconds since 1970; left out where another may have asked it earlier. */
  since?: number | undefined;
}

/** By how much this clock and the server's may differ. */
const CLOCKS_APART_MS = 3_600_000;

/**
 * True for the receipt of exactly this approval. A receipt may leave out door, request, agent and times.
 */
export function isReceiptOf(payload: Partial<ReceiptPayload>, wanted: ReceiptWanted): boolean {
  const { callId, requestId, digest, agents, since } = wanted;
  if (payload.outcome !== "approved" || payload.call_id !== callId || payload.consent_digest !== digest) return false;
  const { door = "a2h", jti = requestId, agent, asked_at = since ?? 0, settled_at = asked_at } = payload;
  const isAgents = (one: string) =>
    agent === one || (one === "agent:" && typeof agent === "string" && agent.startsWith(one));
  if (door !== "a2h" || jti !== requestId || (agent !== undefined && !agents.some(isAgents))) return false;
  return asked_at <= settled_at && (since === undefined || asked_at >= since - CLOCKS_APART_MS);
}

/** The name of EdDSA by Curve25519 in the Web Cryptography API. */
const ED25519 = "Ed25519";

/** Returns the content of a receipt, without a check of its signature. */
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

/** Returns whether the holder of an Ed25519 key, whose public part is 32 bytes, has signed this content. @throws for other bytes */
export type Verify = (
  publicKey: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  content: Uint8Array<ArrayBuffer>,
) => boolean | Promise<boolean>;

/** Verifies by the Web Cryptography API. */
const verifyByWebCrypto: Verify = async (publicKey, signature, content) => {
  const key = await crypto.subtle.importKey("raw", publicKey, ED25519, false, ["verify"]);
  return crypto.subtle.verify(ED25519, key, signature, content);
};

/**
 * True when one of these keys has signed exactly this while it was in use (RFC 7515, RFC 8037). Without a `verify` of its
 * own, call it only where `canVerify`. The holder of a retired key can date a receipt back: for a call that is about to
 * run, give it `presentKeys`.
 */
export async function isSigned(receipt: string, { keys }: ReceiptKeys, verify = verifyByWebCrypto): Promise<boolean> {
  const [head = "", payload = "", signature = "", ...more] = receipt.trim().split(".");
  const header = jsonOf(head) as { alg?: unknown; kid?: unknown; crit?: unknown } | null;
  // A verifier that does not understand the extensions in `crit` must not trust such a signature.
  if (more.length > 0 || header?.alg !== "EdDSA" || header.crit !== undefined || !Array.isArray(keys)) return false;
  const key = (keys as ReceiptKeys["keys"]).find((one) => one?.kid === header.kid && one.crv === ED25519);
  const { settled_at: settledAt } = payloadOf(receipt.trim());
  if (key?.exp !== undefined && !(typeof settledAt === "number" && settledAt < key.exp * 1000)) return false;
  try {
    const content = new TextEncoder().encode(`${head}.${payload}`);
    return await verify(bytesOf(key?.x ?? ""), bytesOf(signature), content);
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
