import { DeliveryError } from "../../channels/channel.ts";
import type { Context } from "../../context.ts";
import type { Outbox } from "../../core/loops/outbox.ts";
import { AddressRefused, type GuardedFetch, type GuardedReply } from "../../lib/network/guarded-fetch.ts";
import { retryAfterMs } from "../../lib/network/retry-after.ts";
import { signedWebhookHeaders } from "../../lib/network/standard-webhooks.ts";
import { agentName } from "../../requests/model/view.ts";
import { ENDPOINT_GIVEN_UP_MS, WEBHOOK_RETRIES } from "../model/webhook-events.ts";
import { transact } from "../../core/store/transact.ts";
import { WEBHOOKS_TOPIC } from "../../core/store/wake.ts";
import {
  claimEvent,
  disableEndpoint,
  findDueEvents,
  findEndpoint,
  noteEndpoint,
  updateEvent,
  type WebhookEndpoint,
  type WebhookEvent,
} from "../store/webhooks.ts";
import { tellAdminsIn } from "../../requests/create/tell-admins.ts";
import { SEALED_BODY, sealedBodyOf } from "../model/sealed-body.ts";
import { secretsOf } from "../webhook-endpoints.ts";

const LOOK_EVERY_MS = 1000;
const PER_ENDPOINT = 4;
const AT_ONCE = 32;
const SLOW_DOWN = new Set([429, 502, 503, 504]);

/** Returns the content of an event for an endpoint, or null where nothing is left to send. */
export type PrintEvent = (
  endpoint: WebhookEndpoint,
  event: WebhookEvent,
) => Promise<{ body: string; secret: boolean } | null>;

/** An event that this server has claimed, and its endpoint as it was then. */
interface ClaimedEvent {
  attempt: number;
  log: { event: string };
  event: WebhookEvent;
  endpoint: WebhookEndpoint;
}

type Outcome = Parameters<typeof updateEvent>[2];

/** An endpoint did not take an event: it replied with another status than success, or did not reply. */
class EventRefused extends DeliveryError {
  readonly outcome: Partial<Outcome>;

  constructor(outcome: Partial<Outcome> & { error: string }, retryAfterMs?: number) {
    super(outcome.error, { retry: true, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    this.outcome = outcome;
  }
}

/**
 * Describes the events that agents subscribed to. They are sent signed, at least once, each endpoint at its own pace
 * (spec/a2h 17).
 */
export function eventOutbox(
  ctx: Context,
  { guardedFetch, print }: { guardedFetch: GuardedFetch; print: PrintEvent },
): Outbox<WebhookEvent, ClaimedEvent> {
  return {
    name: "tell agents",
    topic: WEBHOOKS_TOPIC,
    idleMs: LOOK_EVERY_MS,
    retries: WEBHOOK_RETRIES,
    findDue: () => findDueEvents(ctx.db, PER_ENDPOINT, AT_ONCE),
    async claim(due, leaseMs) {
      const endpoint = await findEndpoint(ctx.db, due.endpointId, undefined);
      if (!endpoint) return;
      const printed = due.body === null ? await print(endpoint, due) : { body: due.body, secret: false };
      if (printed === null) {
        await transact(ctx, (tx) =>
          updateEvent(tx, due, { ...NOTHING, state: "dead", error: "nothing is left to tell" }),
        );
        return;
      }
      const kept = printed.secret ? SEALED_BODY + ctx.keyring.seal(printed.body, due.id) : printed.body;
      const event = await transact(ctx, (tx) => claimEvent(tx, due, kept, leaseMs));
      return event && { attempt: event.attempt, log: { event: event.id }, event, endpoint };
    },
    async send(claimed, signal) {
      const { status, text, headers } = await post(ctx, guardedFetch, claimed, signal);
      const result = { status, reply: text.replaceAll("\0", "").toWellFormed() };
      if (status >= 200 && status < 300) return settle(ctx, claimed, { ...NOTHING, ...result, state: "delivered" });
      const wanted = SLOW_DOWN.has(status) ? retryAfterMs(headers["retry-after"], ctx.clock.now()) : undefined;
      throw new EventRefused({ ...result, error: `status ${status}` }, wanted);
    },
    async failed(claimed, error, inMs) {
      const outcome = error instanceof EventRefused ? error.outcome : { error: "failed" };
      const next = inMs === null ? ({ state: "dead" } as const) : { inMs };
      await settle(ctx, claimed, { ...NOTHING, ...outcome, ...next });
    },
  };
}

/** Sends an event. @throws {EventRefused} the class of what went wrong */
async function post(
  ctx: Context,
  guardedFetch: GuardedFetch,
  { event: { id, body }, endpoint }: ClaimedEvent,
  signal: AbortSignal,
): Promise<GuardedReply> {
  const stored = body ?? "";
  const sealed = sealedBodyOf(stored);
  const bytes = Buffer.from(sealed === null ? stored : ctx.keyring.open(sealed, id));
  const signed = signedWebhookHeaders(secretsOf(ctx, endpoint), id, ctx.clock.now(), bytes);
  const headers = { "content-type": "application/json", "user-agent": "Parley", ...signed };
  try {
    return await guardedFetch(endpoint.url, { method: "POST", headers, body: bytes, signal });
  } catch (error) {
    if (error instanceof AddressRefused) throw new EventRefused({ error: "address refused" });
    const isLate = error instanceof Error && error.name === "TimeoutError";
    throw new EventRefused({ error: isLate ? "too slow" : "no connection" });
  }
}

/** Stores the outcome of an attempt, and what follows for the endpoint. */
async function settle(ctx: Context, { event, endpoint }: ClaimedEvent, to: Outcome): Promise<void> {
  await transact(ctx, async (tx) => {
    if (!(await updateEvent(tx, event, to))) return;
    if (to.status === 410) await disableEndpoint(tx, endpoint.id);
    await noteEndpoint(tx, endpoint.id, to.state === "delivered", ENDPOINT_GIVEN_UP_MS);
    const after = await findEndpoint(tx, endpoint.id, undefined);
    if (endpoint.enabled && after?.enabled === false) await tellAdminsIn(ctx, tx, disabledNotice(after, to.error));
  });
}

/** One for each time it is disabled: several events may fail at once. */
function disabledNotice(
  { id, agent, url, failingSince }: WebhookEndpoint,
  error: string | null,
): Parameters<typeof tellAdminsIn>[2] {
  const name = agentName(agent);
  return {
    ref: `webhook:${id}:${failingSince ?? 0}`,
    title: `A webhook of ${name} is disabled`,
    words: [
      `${new URL(url).host} took nothing for too long, or is gone for good; the last thing it said was: ${error ?? "nothing"}.`,
      `The agent ${name} hears there no more how its requests end. Somebody who runs this server can enable it again in the console, under Webhooks.`,
    ].join(" "),
  };
}

const NOTHING = { state: "pending", inMs: 0, status: null, error: null, reply: null } as const;
