import type { PushOutside } from "./outside.ts";
import { AddressRefused, type GuardedReply } from "../../lib/network/guarded-fetch.ts";
import { retryAfterMs } from "../../lib/network/retry-after.ts";
import type { PushDevice, PushMessage, SendPush } from "../../notices/model/push-message.ts";
import { DeliveryError } from "../channel.ts";

export interface VapidDetails {
  /** `mailto:` or `https:`: whom a push service can complain to. */
  subject: string;
  /** Raw P-256 point and scalar, base64url. */
  publicKey: string;
  privateKey: string;
}

/**
 * Sends by RFC 8030, 8291 and 8292; the payload is declarative, so that a browser that knows the form needs no service
 * worker. `web-push` encrypts and signs; our own guarded fetch sends, because the endpoint came from a browser.
 */
export function openWebPush(
  settings: { publicUrl: () => string; vapid: VapidDetails },
  { guardedFetch, now }: Pick<PushOutside, "guardedFetch" | "now">,
): SendPush {
  return async (device, message, signal) => {
    const sealed = await seal(device, payloadOf(message, settings.publicUrl()), message, settings.vapid);
    let reply: GuardedReply;
    try {
      reply = await guardedFetch(device.address, { ...sealed, signal });
    } catch (cause) {
      if (cause instanceof AddressRefused) throw new DeliveryError(cause.message, { retry: false, cause });
      throw new DeliveryError("the push service could not be reached", { retry: true, cause });
    }
    const { status } = reply;
    if (status >= 200 && status < 300) return;
    if (status === 404 || status === 410) throw gone("the push service knows the subscription no more");
    const retry = status === 429 || status >= 500;
    const wait = retryAfterMs(reply.headers["retry-after"], now());
    throw new DeliveryError(`the push service answered ${status}`, {
      retry,
      providerCode: String(status),
      ...(retry && wait !== undefined && { retryAfterMs: wait }),
    });
  };
}

/** The subscription is dead for good. */
export function gone(says: string, cause?: unknown): DeliveryError {
  return new DeliveryError(says, { retry: false, providerCode: "gone", cause });
}

/** Returns the payload in the declarative form (W3C Push API, "declarative push message"). */
function payloadOf(message: PushMessage, publicUrl: string): string {
  const { title, body, path, data } = message;
  const notification = {
    title,
    body,
    navigate: `${publicUrl}${path}`,
    tag: path,
    icon: `${publicUrl}/icons/notification.png`,
    data,
  };
  return JSON.stringify({ web_push: 8030, notification });
}

async function seal(device: PushDevice, payload: string, message: PushMessage, vapid: VapidDetails) {
  const { address, keys } = device;
  if (!keys) throw gone("the subscription holds no keys");
  const { default: webPush } = await import("web-push");
  try {
    const details = webPush.generateRequestDetails({ endpoint: address, keys }, payload, {
      vapidDetails: vapid,
      TTL: message.ttlSeconds,
      urgency: message.urgency,
      topic: message.topic,
      contentEncoding: "aes128gcm",
    });
    const headers = Object.entries(details.headers).map(([name, value]) => [name, String(value)]);
    return { method: "POST", headers: Object.fromEntries(headers) as Record<string, string>, body: details.body };
  } catch (cause) {
    // The browser's key is not a point on the curve.
    throw gone("nothing can be encrypted for the subscription", cause);
  }
}
