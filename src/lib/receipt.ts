import type { JSONWebKeySet, JWK } from "jose";

/** The record of this server about one settled approval. It holds no name, address or argument. */
export interface Receipt {
  v: 1;
  iss: string;
  jti: string;
  door: string;
  call_id: string | null;
  /** The principal: `agent:` and the name its key was made for, or `open:` and the name that a program without one gave. */
  agent: string;
  consent_digest: string | null;
  outcome: "approved" | "rejected" | "answered" | "expired" | "cancelled";
  expired: boolean;
  /** Of what policy decided. */
  policy_version?: string;
  decided: readonly {
    kind: string;
    id: string;
    via: string;
    /** Id of the message that was answered, and the MAC of the address it came from; neither of the inbox. */
    delivery?: string;
    address_mac?: string;
    at: number;
    shown: string | null;
    /** The permission by which a person had allowed it earlier. */
    grant?: string;
  }[];
  asked_at: number;
  settled_at: number;
}

/**
 * The record of this server about the end of an approved call: a statement of its own, because the receipt was handed out
 * before. It holds no argument, and no words of the agent.
 */
export interface OutcomeStatement {
  v: 1;
  iss: string;
  /** The `jti` of the receipt with which it goes. */
  receipt: string;
  call_id: string | null;
  /** As in the receipt. */
  agent: string;
  consent_digest: string | null;
  state: string;
  result_digest: string | null;
  at: number;
  /** As in the receipt. */
  settled_at: number;
}

const ALGORITHM = "EdDSA";
const RECEIPT_TYPE = "parley-receipt+jws";
const OUTCOME_TYPE = "parley-outcome+jws";

/** The public key that checks receipts. A retired one has `exp`, in seconds: what was settled from then on, it did not sign. */
export type ReceiptKey = Required<Pick<JWK, "kty" | "crv" | "x" | "alg" | "use" | "kid">> & { exp?: number };

/** Makes an Ed25519 key that signs receipts; its id is its RFC 7638 thumbprint. */
export async function makeSigningKey(): Promise<JWK> {
  const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await import("jose");
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: "Ed25519", extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, alg: ALGORITHM, use: "sig", kid: await calculateJwkThumbprint(jwk) };
}

/** Returns what anybody may know of a signing key. */
export function publicPart({ kty, crv, x, alg, use, kid, exp }: JWK & { exp?: number }): ReceiptKey {
  return { kty, crv, x, alg, use, kid, ...(exp !== undefined && { exp }) } as ReceiptKey;
}

/** Returns the public part of a key that has signed for the last time at `retiredMs`. */
export const retiredPart = (key: JWK, retiredMs: number): ReceiptKey => ({
  ...publicPart(key),
  exp: Math.floor(retiredMs / 1000) + 1,
});

/** Returns the keys that sign now: a receipt that a server hands out now is by one of these, however old its decision is. */
export const presentKeys = ({ keys }: JSONWebKeySet): JSONWebKeySet => ({
  keys: keys.filter((key) => !("exp" in key)),
});

/** Returns the receipt as a compact JWS (RFC 7515). */
export const signReceipt = (receipt: Receipt, key: JWK): Promise<string> => sign(receipt, RECEIPT_TYPE, key);

/** Returns the statement about the end of a call as a compact JWS. */
export const signOutcome = (outcome: OutcomeStatement, key: JWK): Promise<string> => sign(outcome, OUTCOME_TYPE, key);

async function sign(payload: object, typ: string, key: JWK): Promise<string> {
  const { CompactSign, importJWK } = await import("jose");
  const signer = new CompactSign(new TextEncoder().encode(JSON.stringify(payload)));
  signer.setProtectedHeader({ alg: ALGORITHM, typ, ...(key.kid && { kid: key.kid }) });
  return signer.sign(await importJWK(key, ALGORITHM));
}

/** Returns what a receipt says, if one of the keys signed exactly this while it was in use; null where none did. */
export async function openReceipt(jws: string, keys: JSONWebKeySet): Promise<Receipt | null> {
  const opened = await open(jws, keys);
  return opened && opened.typ !== OUTCOME_TYPE ? (opened.payload as Receipt) : null;
}

/** Returns the same of a statement about the end of a call. */
export async function openOutcome(jws: string, keys: JSONWebKeySet): Promise<OutcomeStatement | null> {
  const opened = await open(jws, keys);
  return opened?.typ === OUTCOME_TYPE ? (opened.payload as OutcomeStatement) : null;
}

async function open(jws: string, keys: JSONWebKeySet): Promise<{ payload: object; typ: string | undefined } | null> {
  const { compactVerify, createLocalJWKSet, errors } = await import("jose");
  try {
    const opened = await compactVerify(jws.trim(), createLocalJWKSet(keys), { algorithms: [ALGORITHM] });
    const payload = JSON.parse(new TextDecoder().decode(opened.payload)) as { settled_at?: unknown };
    const { kid, typ } = opened.protectedHeader;
    const signers = keys.keys.filter((key) => kid === undefined || key.kid === kid);
    return signers.every((key) => wasInUse(key, payload)) ? { payload, typ } : null;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

/** True for a statement about the end of a call, whoever signed it. */
export async function isOutcome(jws: string): Promise<boolean> {
  const { decodeProtectedHeader } = await import("jose");
  try {
    return decodeProtectedHeader(jws.trim()).typ === OUTCOME_TYPE;
  } catch {
    return false;
  }
}

/** True where a key had not been retired when the receipt's decision was made. */
function wasInUse(key: JWK, receipt: { settled_at?: unknown } | null): boolean {
  if (!("exp" in key)) return true;
  const { exp } = key;
  const settledAt = receipt?.settled_at;
  return typeof exp === "number" && typeof settledAt === "number" && settledAt < exp * 1000;
}

/** Returns why `openReceipt` or `openOutcome` opened nothing, and the id of the key that the text names. */
export async function unopenedBecause(
  jws: string,
  { keys }: JSONWebKeySet,
): Promise<{ because: "no receipt" | "unknown key" | "retired key" | "signature"; kid: string }> {
  const { decodeProtectedHeader } = await import("jose");
  try {
    const { alg, typ, kid } = decodeProtectedHeader(jws.trim());
    if (alg !== ALGORITHM || (typ !== RECEIPT_TYPE && typ !== OUTCOME_TYPE) || kid === undefined)
      return { because: "no receipt", kid: "" };
    const key = keys.find((one) => one.kid === kid);
    if (!key) return { because: "unknown key", kid };
    return { because: "exp" in key ? "retired key" : "signature", kid };
  } catch {
    return { because: "no receipt", kid: "" };
  }
}
