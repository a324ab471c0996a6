import type { PushOutside } from "./outside.ts";
import { readFileSync } from "node:fs";
import { retryAfterMs } from "../../lib/network/retry-after.ts";
import type { PushDevice, PushMessage, SendPush } from "../../notices/model/push-message.ts";
import { DeliveryError } from "../channel.ts";
import { gone } from "./web-push.ts";

/** A Google service account that may send to the devices of one Firebase project. */
export interface FcmAccount {
  projectId: string;
  clientEmail: string;
  privateKey: string;
}

/** Returns the service account of a key file as the Firebase console gives it. @throws {Error} one sentence */
export function readFcmAccount(path: string): FcmAccount {
  const sentence = (why: string) => new Error(`The Firebase key file ${path} cannot be used: ${why}.`);
  let key: Record<string, unknown>;
  try {
    key = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  } catch (error) {
    throw sentence(error instanceof SyntaxError ? "it is not JSON" : "it cannot be read");
  }
  const { project_id: projectId, client_email: clientEmail, private_key: privateKey } = key;
  if (typeof projectId !== "string" || typeof clientEmail !== "string" || typeof privateKey !== "string") {
    throw sentence("it is no service account key");
  }
  return { projectId, clientEmail, privateKey };
}

const TOKEN_URL = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_SECONDS = 3600;
/** A token is renewed so long before it ends. */
const SPARE_MS = 300_000;

/** Sends through FCM's HTTP v1 API, under a token that the account's key is exchanged for. */
export function openFcm(
  account: FcmAccount,
  publicUrl: () => string,
  { fetch, now }: Pick<PushOutside, "fetch" | "now">,
): SendPush {
  const url = `https://fcm.googleapis.com/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;
  let token: { text: string; endsAt: number } | undefined;

  /** Returns a token, a new one where the last is about to end (Google's OAuth 2.0 for service accounts, RFC 7523). */
  async function signIn(signal: AbortSignal): Promise<string> {
    if (token && now() < token.endsAt - SPARE_MS) return token.text;
    const { importPKCS8, SignJWT } = await import("jose");
    const issuedAt = Math.floor(now() / 1000);
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: "RS256", typ: "JWT" })
      .setIssuer(account.clientEmail)
      .setAudience(TOKEN_URL)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_SECONDS)
      .sign(await importPKCS8(account.privateKey, "RS256"));
    const body = new URLSearchParams({ grant_type: GRANT, assertion });
    const reply = await fetch(TOKEN_URL, { method: "POST", body, redirect: "error", signal });
    const given = (await reply.json()) as { access_token?: unknown; expires_in?: unknown };
    if (!reply.ok || typeof given.access_token !== "string") throw new Error(`Google answered ${reply.status}`);
    const seconds = typeof given.expires_in === "number" ? given.expires_in : ASSERTION_SECONDS;
    token = { text: given.access_token, endsAt: now() + seconds * 1000 };
    return token.text;
  }

  return async (device, message, signal) => {
    let reply: Response;
    try {
      const bearer = await signIn(signal);
      reply = await fetch(url, {
        method: "POST",
        headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        body: JSON.stringify({ message: messageOf(device, message, publicUrl(), now()) }),
        redirect: "error",
        signal,
      });
    } catch (cause) {
      throw new DeliveryError("FCM could not be reached", { retry: true, cause });
    }
    const text = await reply.text();
    if (reply.ok) return;
    if (reply.status === 401) token = undefined;
    const code = errorCodeOf(text);
    if (reply.status === 404 || code === "UNREGISTERED" || isBadToken(reply.status, text)) {
      throw gone("FCM knows the token no more");
    }
    const retry = reply.status === 429 || reply.status >= 500;
    const wait = retryAfterMs(reply.headers.get("retry-after") ?? undefined, now());
    throw new DeliveryError(`FCM answered ${reply.status}`, {
      retry,
      providerCode: code ?? String(reply.status),
      ...(retry && wait !== undefined && { retryAfterMs: wait }),
    });
  };
}

function messageOf(device: PushDevice, message: PushMessage, publicUrl: string, now: number): object {
  const { title, body, data, topic, ttlSeconds, urgency, path } = message;
  const isHigh = urgency === "high";
  return {
    token: device.address,
    notification: { title, body },
    data,
    android: { ttl: `${ttlSeconds}s`, priority: isHigh ? "HIGH" : "NORMAL", collapse_key: topic },
    apns: {
      headers: {
        "apns-collapse-id": topic,
        "apns-expiration": String(Math.floor(now / 1000) + ttlSeconds),
        "apns-priority": isHigh ? "10" : "5",
      },
    },
    webpush: {
      headers: { TTL: String(ttlSeconds), Urgency: urgency, Topic: topic },
      // FCM takes links by https only.
      ...(publicUrl.startsWith("https:") && { fcm_options: { link: `${publicUrl}${path}` } }),
    },
  };
}

interface FcmError {
  error?: { details?: readonly { errorCode?: unknown; fieldViolations?: readonly { field?: unknown }[] }[] };
}

function detailsOf(text: string): NonNullable<NonNullable<FcmError["error"]>["details"]> {
  try {
    return (JSON.parse(text) as FcmError).error?.details ?? [];
  } catch {
    return [];
  }
}

function errorCodeOf(text: string): string | undefined {
  const code = detailsOf(text).find(({ errorCode }) => typeof errorCode === "string")?.errorCode;
  return typeof code === "string" ? code : undefined;
}

/** True when it is the token, and nothing else about the message, that FCM does not take. */
function isBadToken(status: number, text: string): boolean {
  if (status !== 400) return false;
  return detailsOf(text).some(({ fieldViolations = [] }) =>
    fieldViolations.some((one) => one.field === "message.token"),
  );
}
