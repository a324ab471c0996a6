import { createHmac, timingSafeEqual } from "node:crypto";
import type { RawRequest } from "../channel.ts";

/** Older or newer by more than this, and a request is not believed. */
const WITHIN_S = 300;

/**
 * Returns which of the secrets signed a request as Slack signs (spec/channels 4), or nothing.
 *
 * The signature covers the very bytes that came, so they are checked before anything in them is read. A clock that is
 * ahead is no better than one that is behind, and a header given twice says nothing.
 */
export function findSigner<T extends { signingSecret: string }>(
  http: RawRequest,
  candidates: readonly T[],
  nowMs: number,
): T | undefined {
  const timestamp = onlyHeader(http, "x-slack-request-timestamp");
  const signature = onlyHeader(http, "x-slack-signature");
  if (!timestamp || !signature || !/^\d{10}$/.test(timestamp) || !/^v0=[0-9a-f]{64}$/.test(signature)) return undefined;
  if (Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) > WITHIN_S) return undefined;
  const given = Buffer.from(signature.slice(3), "hex");
  return candidates.find(({ signingSecret }) => {
    const mac = createHmac("sha256", signingSecret).update(`v0:${timestamp}:`).update(http.body).digest();
    return timingSafeEqual(mac, given);
  });
}

function onlyHeader({ rawHeaders }: RawRequest, name: string): string | undefined {
  const found = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
  return found.length === 1 ? found[0] : undefined;
}
