import type { RequestId } from "../core/model/ids.ts";
import { createPublicKey, verify } from "node:crypto";
import { agentsOf } from "@parley/sdk/environment";
import { isReceiptOf, isSigned, payloadOf, presentKeys, type ReceiptKeys, type Verify } from "@parley/sdk/receipts";
import { CouldNotAsk, type Ended, readThere, type ServerAccess } from "./people-requests.ts";

/** The call that was asked for. */
export interface CallOfHook {
  callId: string;
  digest: string;
  /** When it was asked, in milliseconds since 1970; left out where another hook may have asked it earlier. */
  since: number | undefined;
}

const KEYS = "/.well-known/jwks.json";

/**
 * Returns why an approval does not count, in words that follow "because"; nothing where its signed receipt is of exactly
 * this call, or where the server says no keys and shows no receipt (spec/security 4). The key must be the one that the
 * server says signs now: a receipt under a retired key allows nothing.
 */
export async function receiptProblem(place: ServerAccess, call: CallOfHook, ended: Ended): Promise<string | null> {
  const requestId = typeof ended.ask_id === "string" ? ended.ask_id : "";
  try {
    const { receipt, keys, areKept } = await receiptOf(place, requestId, ended);
    if (receipt === null) return keys.keys.length === 0 ? null : "the server, which signs receipts, has none of it";
    const wanted = { ...call, requestId, agents: agentsOf(place) };
    if (!isReceiptOf(payloadOf(receipt), wanted)) return "its receipt is of another call";
    if (await isSigned(receipt, presentKeys(keys), verifyEd25519)) return null;
    // A kept key may be damaged, or of another server that was at this address.
    const isSignedNow = areKept && (await isSigned(receipt, await presentAt(place), verifyEd25519));
    return isSignedNow ? null : "no present key of the server's has signed its receipt";
  } catch (error) {
    if (!(error instanceof CouldNotAsk)) throw error;
    return `its receipt cannot be read (${error.message.replace(/\.$/, "")})`;
  }
}

/** The receipt of an approval, and the keys of which one must have signed it. */
interface ReceiptAndKeys {
  receipt: string | null;
  keys: ReceiptKeys;
  /** The keys were kept from an earlier prompt. */
  areKept: boolean;
}

/** Returns the receipt in the reply, with its key as it was kept or is now; a server before 0.3 is asked for both. */
async function receiptOf(place: ServerAccess, requestId: RequestId, ended: Ended): Promise<ReceiptAndKeys> {
  const { receipt, receipt_key: keyId } = ended;
  if (typeof receipt === "string" && typeof keyId === "string" && isSignedForm(receipt))
    return { receipt, ...(await keyNamed(place, keyId)) };
  const keys = keysIn(await readThere(place, KEYS));
  const text = await readThere(place, `/receipts/${encodeURIComponent(requestId)}`);
  return { receipt: text !== null && isSignedForm(text) ? text : null, keys, areKept: false };
}

/** Returns the key that the server says signs now. One that is not among those that were kept replaces them. */
async function keyNamed(place: ServerAccess, keyId: string): Promise<Omit<ReceiptAndKeys, "receipt">> {
  const named = ({ keys }: ReceiptKeys) => ({ keys: keys.filter(({ kid }) => kid === keyId) });
  const kept = named({ keys: place.keptKeys?.of(place.url) ?? [] });
  if (kept.keys.length > 0) return { keys: kept, areKept: true };
  return { keys: named(await presentAt(place)), areKept: false };
}

/** Returns the keys with which the server signs now, and keeps them. @throws {CouldNotAsk} */
async function presentAt(place: ServerAccess): Promise<ReceiptKeys> {
  const present = presentKeys(keysIn(await readThere(place, KEYS)));
  await place.keptKeys?.keep(place.url, present.keys);
  return present;
}

/** Verifies by Node's own functions, which a program that draws hashes has loaded already. */
const verifyEd25519: Verify = (publicKey, signature, content) => {
  const x = Buffer.from(publicKey).toString("base64url");
  return verify(null, content, createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } }), signature);
};

/** Three parts with dots between them (RFC 7515). */
function isSignedForm(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text.trim());
}

/** @throws {CouldNotAsk} where the keys are no JSON */
function keysIn(text: string | null): ReceiptKeys {
  if (text === null) return { keys: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CouldNotAsk("The server's keys are not JSON.");
  }
  const { keys } = Object(value) as Partial<ReceiptKeys>;
  return { keys: Array.isArray(keys) ? keys : [] };
}
