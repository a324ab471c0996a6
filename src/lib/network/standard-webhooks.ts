import { createHmac, timingSafeEqual } from "node:crypto";

const FRESH_FOR_S = 300;

/** The headers of a signed request, each seen as often as it was sent. */
export interface SignedRequest {
  /** Name and value in turn, as they came. */
  rawHeaders: readonly string[];
  body: Uint8Array;
}

/**
 * Returns the id of a request signed as Standard Webhooks says, with one of the secrets, within five minutes of now;
 * nothing for any other request. A header that is missing or given twice proves nothing (spec/channels 4).
 */
export function verifiedWebhookId(
  { rawHeaders, body }: SignedRequest,
  secrets: readonly string[],
  nowMs: number,
): string | undefined {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => onlyHeader(rawHeaders, name));
  if (!id || signatures === undefined || !/^\d{10}$/.test(timestamp ?? "")) return undefined;
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > FRESH_FOR_S) return undefined;
  const given = signatures.split(" ").flatMap((one) => (one.startsWith("v1,") ? [one.slice(3)] : []));
  const wanted = secrets.map((secret) => webhookSignature(secret, id, Number(timestamp), body));
  return wanted.some((one) => given.some((other) => sameBytes(one, other))) ? id : undefined;
}

/**
 * Returns the headers of a request that proves where it comes from, under the names of Standard Webhooks and those of
 * Svix. Several secrets sign while one takes the place of another (spec/a2h 17).
 */
export function signedWebhookHeaders(
  secrets: readonly string[],
  id: string,
  nowMs: number,
  body: Uint8Array,
): Record<string, string> {
  const timestamp = Math.floor(nowMs / 1000);
  const signature = secrets.map((secret) => `v1,${webhookSignature(secret, id, timestamp, body)}`).join(" ");
  const values = { id, timestamp: String(timestamp), signature };
  const named = Object.entries(values).flatMap(([name, value]) => [
    [`webhook-${name}`, value],
    [`svix-${name}`, value],
  ]);
  return Object.fromEntries(named) as Record<string, string>;
}

/** Returns the base64 signature of a request; stands behind `v1,` in the header. */
export function webhookSignature(secret: string, id: string, timestampS: number, body: Uint8Array): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return createHmac("sha256", key).update(`${id}.${timestampS}.`).update(body).digest("base64");
}

function onlyHeader(rawHeaders: readonly string[], name: string): string | undefined {
  const at = rawHeaders.flatMap((header, i) => (i % 2 === 0 && header.toLowerCase() === `webhook-${name}` ? [i] : []));
  return at.length === 1 ? rawHeaders[(at[0] ?? 0) + 1] : undefined;
}

function sameBytes(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
