import type { WebhookDestination } from "./destination.ts";
import { AddressRefused, type GuardedFetch, type GuardedReply } from "../../lib/network/guarded-fetch.ts";
import { retryAfterMs } from "../../lib/network/retry-after.ts";
import { signedWebhookHeaders } from "../../lib/network/standard-webhooks.ts";
import type { Target } from "../../requests/model/request.ts";
import { DeliveryError, type Channel, type FieldError } from "../channel.ts";
import { webhook } from "./kind.ts";
import { callbackHook, callbackPath } from "./callback.ts";
import { closedEvent, deliveredEvent } from "./events.ts";

export type WebhookTarget = Extract<Target, { via: "webhook" }>;

export interface WebhookOutside {
  guardedFetch: GuardedFetch;
  now: () => number;
  publicUrl: () => string;
}

/** Returns the channel to the operator's own programs, or nothing where none is configured. */
export function webhookChannel(
  destinations: Readonly<Record<string, WebhookDestination>>,
  outside: WebhookOutside,
): Channel<WebhookTarget> | undefined {
  const known = new Map(Object.entries(destinations));
  if (known.size === 0) return undefined;

  async function post(name: string, id: string, text: string, signal: AbortSignal): Promise<void> {
    const destination = known.get(name);
    if (!destination)
      throw new DeliveryError("the target is not configured", { retry: false, providerCode: "unknown" });
    const body = Buffer.from(text);
    const headers = {
      "content-type": "application/json",
      "user-agent": "Parley",
      ...signedWebhookHeaders([destination.secret], id, outside.now(), body),
    };
    let reply: GuardedReply;
    try {
      reply = await outside.guardedFetch(destination.url, { method: "POST", headers, body, signal });
    } catch (cause) {
      const isRefused = cause instanceof AddressRefused;
      const more = { retry: !isRefused, cause, ...(isRefused && { providerCode: "address_refused" }) };
      throw new DeliveryError(isRefused ? cause.message : "the target could not be reached", more);
    }
    const { status } = reply;
    if (status >= 200 && status < 300) return;
    const retry = status === 408 || status === 425 || status === 429 || status >= 500;
    const wait = retryAfterMs(reply.headers["retry-after"], outside.now());
    throw new DeliveryError(`the target answered ${status}`, {
      retry,
      providerCode: String(status),
      ...(retry && wait !== undefined && { retryAfterMs: wait }),
    });
  }

  return {
    name: "webhook",
    isForPrograms: true,
    via: "webhook",
    fields: webhook.fields,
    wholeLimit: Number.MAX_SAFE_INTEGER,
    parse: (input) => parseTarget(input, known),
    async send(notice, signal) {
      const { to } = notice.target;
      const text = deliveredEvent(notice, `${outside.publicUrl()}/inbox/${notice.view.requestId}`, callbackPath(to));
      await post(to, notice.delivery, text, signal);
      return { externalIds: { delivery: notice.delivery } };
    },
    async close({ to }, { externalIds }, closing, signal) {
      const delivery = externalIds["delivery"];
      if (delivery === undefined) return;
      await post(to, `${delivery}.closed`, closedEvent(delivery, closing), signal);
    },
    inbound: { hooks: [callbackHook(known, outside.now)] },
  };
}

function parseTarget(
  input: Readonly<Record<string, unknown>>,
  known: ReadonlyMap<string, WebhookDestination>,
): { target: WebhookTarget } | { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const refuse = (name: string, code: FieldError["code"], message: string) =>
    void errors.push({ path: `/webhook/${name}`, code, message });
  for (const name of Object.keys(input))
    if (name !== "name") refuse(name, "unknown_field", "is not a field of webhook");
  const name = input["name"] ?? undefined;
  if (name === undefined) refuse("name", "required", "is required");
  else if (typeof name !== "string") refuse("name", "type", "must be a string");
  else {
    const destination = known.get(name);
    if (!destination) refuse("name", "recipient_not_allowed", "is no target of this server");
    else if (destination.humans.length === 0)
      refuse("name", "recipient_not_allowed", "is a target that speaks for nobody who is still here");
    else if (errors.length === 0) return { target: { via: "webhook", to: name, people: destination.humans } };
  }
  return { errors };
}
