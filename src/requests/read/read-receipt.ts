import type { Context } from "../../context.ts";
import {
  makeSigningKey,
  publicPart,
  type Receipt,
  type ReceiptKey,
  retiredPart,
  signOutcome,
  signReceipt,
} from "../../lib/receipt.ts";
import type { Request, CountedDecision } from "../model/request.ts";
import { Refusal } from "../../refusals.ts";
import { outcomeOf } from "../model/call-outcome.ts";
import { findCallOutcome } from "../store/call-outcomes.ts";
import { findGrant, type KeptGrant } from "../../policy/store/grants.ts";
import { listDecisions } from "../store/requests.ts";
import { findSecret, insertSecretIfNew } from "../../core/store/sealed-secrets.ts";
import { listEntryTimes } from "../../core/store/audit.ts";
import { transact } from "../../core/store/transact.ts";

/** The name under which the keys that sign receipts are sealed: private JWKs, the one in use first. */
export const SIGNING_SECRET = "receipts";

/** The entry of the record about a change of the installation key, which retires the signing key. */
export const ROTATED = "installation_key.rotated";

type SigningKey = Awaited<ReturnType<typeof makeSigningKey>> & { exp?: number };

/** Returns the keys that sign receipts, the one in use first; the first is made when it is first wanted. */
async function signingKeys(
  ctx: Pick<Context, "db" | "wake" | "keyring">,
): Promise<readonly [SigningKey, ...SigningKey[]]> {
  const existing = await findSecret(ctx.db, ctx.keyring, SIGNING_SECRET);
  if (existing !== null) return JSON.parse(existing) as [SigningKey, ...SigningKey[]];
  const fresh = JSON.stringify([await makeSigningKey()]);
  const stored = await transact(ctx, async (tx) => {
    await insertSecretIfNew(tx, ctx.keyring, SIGNING_SECRET, fresh);
    return (await findSecret(tx, ctx.keyring, SIGNING_SECRET)) ?? fresh;
  });
  return JSON.parse(stored) as [SigningKey, ...SigningKey[]];
}

/** Returns the public keys of every receipt this server has signed, as a JWK set (RFC 7517); retired ones say until when. */
export async function readReceiptKeys(ctx: Pick<Context, "db" | "wake" | "keyring">): Promise<{ keys: ReceiptKey[] }> {
  const [present, ...retired] = await signingKeys(ctx);
  // A key that was retired before 0.3 has no time of its own: each rotation has retired one key, so the record knows it.
  const isTimed = retired.every(({ exp }) => exp !== undefined);
  const rotations = isTimed ? [] : await listEntryTimes(ctx.db, ROTATED);
  const keys = retired.map((key, i) => (key.exp === undefined ? retiredPart(key, rotations[i] ?? 0) : publicPart(key)));
  return { keys: [publicPart(present), ...keys] };
}

/** A signed receipt, and the id of the key that signs now, by which it is signed. */
export interface SignedReceipt {
  jws: string;
  keyId: string;
}

/**
 * Returns the signed receipt of a request that is over (spec/security 4): what was approved, who decided and what
 * each of them was shown. It says what this server recorded, and not that anybody understood it.
 *
 * @throws {Refusal} `request_not_found` while the request is open
 */
export async function readReceipt(ctx: Context, request: Request, issuer: string): Promise<SignedReceipt> {
  const { outcome, settledAt } = request;
  if (!outcome || settledAt === null) throw new Refusal("request_not_found", {}, "This request is still open.");
  const decisions = await listDecisions(ctx.db, request.id);
  const grant = outcome.trace?.grant ? await findGrant(ctx.db, outcome.trace.grant) : undefined;
  const { receipt: jti, call_id, agent, consent_digest } = namesOf(request);
  const receipt: Receipt = {
    v: 1,
    iss: issuer,
    jti,
    door: request.door,
    call_id,
    agent,
    consent_digest,
    outcome: outcomeWord(request),
    expired: outcome.status === "expired",
    ...(outcome.trace && { policy_version: outcome.trace.policy_version }),
    decided: outcome.trace ? decidedByPolicy(request, grant) : decisions.map(({ decision }) => decided(decision)),
    asked_at: request.createdAt,
    settled_at: settledAt,
  };
  const [key] = await signingKeys(ctx);
  return { jws: await signReceipt(receipt, key), keyId: key.kid ?? "" };
}

/**
 * Returns the signed statement about the end of an approved call, which names its receipt (spec/security 4).
 *
 * @throws {Refusal} `request_not_found` while the call has no end, and for a request that approved none
 */
export async function readOutcome(ctx: Context, request: Request, issuer: string): Promise<string> {
  const outcome = outcomeOf(request, await findCallOutcome(ctx.db, request.id));
  if (!outcome) throw new Refusal("request_not_found", {}, "This request approved no call.");
  if (outcome.state === "awaited" || outcome.state === "started")
    throw new Refusal("request_not_found", {}, "This call has no end yet.");
  const [key] = await signingKeys(ctx);
  const { receipt, call_id, agent, consent_digest, settled_at } = namesOf(request);
  const { state, resultDigest: result_digest, at } = outcome;
  const facts = { receipt, call_id, agent, consent_digest, state, result_digest, at, settled_at };
  return signOutcome({ v: 1, iss: issuer, ...facts }, key);
}

/** The members by which a receipt and the statement about the end of its call name one request. */
function namesOf({ id, ref, asker, outcome, digest, settledAt }: Request) {
  const callId = ref.slice(ref.indexOf(":") + 1);
  return {
    receipt: id,
    call_id: callId === "" ? null : callId,
    agent: asker,
    consent_digest: outcome?.digest ?? digest,
    settled_at: settledAt ?? 0,
  };
}

type Decided = Receipt["decided"][number];

function decided({ by, at, digest, pressed: origin }: CountedDecision): Decided {
  // For a person who is not enrolled, a receipt holds the kind of address, and a code that only this server can make.
  const id = by.kind === "address" ? by.id.split(":", 1).join("") : by.id;
  return {
    ...by,
    id,
    ...(origin && { delivery: origin.delivery }),
    ...(origin?.addressMac !== undefined && { address_mac: origin.addressMac }),
    at,
    shown: digest ?? null,
  };
}

/** Who allowed exactly this earlier was shown it then; who allowed a pattern was shown that, and a rule nothing. */
function decidedByPolicy({ outcome, settledAt, digest }: Request, grant: KeptGrant | undefined): Decided[] {
  if (!outcome?.by || settledAt === null) return [];
  const named = grant && { grant: grant.id };
  return [{ ...outcome.by, at: settledAt, shown: grant?.digest === undefined ? null : digest, ...named }];
}

function outcomeWord({ outcome, form }: Request): Receipt["outcome"] {
  if (outcome?.status === "expired" || outcome?.status === "cancelled") return outcome.status;
  if (form.kind !== "approval") return "answered";
  return outcome?.approved ? "approved" : "rejected";
}
