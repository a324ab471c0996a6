import { retryAfterMs } from "../../lib/network/retry-after.ts";
import { DeliveryError } from "../channel.ts";
import type { TwilioAccount, TwilioOutside } from "./settings.ts";

/** Numbers that never take a message, people who want none, and content that WhatsApp does not carry. */
const PERMANENT: ReadonlySet<number> = new Set([21211, 21614, 21610, 63016]);
const TOO_MANY = 20429;

interface ApiReply {
  sid?: unknown;
  code?: unknown;
}

/** Creates a message at Twilio; returns its SID. @throws {DeliveryError} */
export async function createMessage(
  account: TwilioAccount,
  { fetch, now }: Pick<TwilioOutside, "fetch" | "now">,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const { accountSid, authToken, apiUrl } = account;
  const login = Buffer.from(`${accountSid}:${authToken}`).toString("base64");
  let reply: Response;
  let body: ApiReply;
  try {
    reply = await fetch(`${apiUrl}/2010-04-01/Accounts/${accountSid}/Messages.json`, {
      method: "POST",
      headers: { authorization: `Basic ${login}` },
      body: new URLSearchParams(fields),
      redirect: "error",
      signal,
    });
    body = readReply(await reply.text());
  } catch (cause) {
    throw new DeliveryError("Twilio could not be reached", { retry: true, cause });
  }
  if (reply.ok && typeof body.sid === "string") return body.sid;

  const code = typeof body.code === "number" ? body.code : undefined;
  const isBusy = reply.status === 429 || code === TOO_MANY || reply.status >= 500 || reply.ok;
  const wait = retryAfterMs(reply.headers.get("retry-after") ?? undefined, now());
  throw new DeliveryError(`Twilio answered ${reply.status}`, {
    retry: isBusy && !(code !== undefined && PERMANENT.has(code)),
    providerCode: String(code ?? reply.status),
    ...(wait !== undefined && { retryAfterMs: wait }),
  });
}

function readReply(text: string): ApiReply {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    return {};
  }
}
