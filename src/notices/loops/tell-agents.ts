import type { Context } from "../../context.ts";
import { AddressRefused, type GuardedFetch, type GuardedReply } from "../../lib/network/guarded-fetch.ts";
import { retryAfterMs } from "../../lib/network/retry-after.ts";
import { signedWebhookHeaders } from "../../lib/network/standard-webhooks.ts";
import { agentName } from "../../requests/model/view.ts";
import { ENDPOINT_GIVEN_UP_MS, pauseAfter } from "../model/webhook-events.ts";
import { transact } from "../../core/store/transact.ts";
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
import { tellAdminsIn } from "../../requests/tell-admins.ts";
import { SEALED_BODY, sealedBodyOf } from "../model/sealed-body.ts";
import { secretsOf } from "../webhook-endpoints.ts";

/** A claimed event is a rival's again after this. */
const LEASE_MS = 60_000;
const PER_ENDPOINT = 4;
const AT_ONCE = 32;
const SLOW_DOWN = new Set([429, 502, 503, 504]);

/** Returns the content of an event for an endpoint, or null where nothing is left to send. */
export type PrintEvent = (
  endpoint: WebhookEndpoint,
  event: WebhookEvent,
) => Promise<{ body: string; secret: boolean } | null>;

/**
 * Sends agents the events that they subscribed to, signed, at least once, each endpoint at its own pace (spec/a2h 17).
 * Returns whether an event was due.
 */
export async function tellAgents(
  ctx: Context,
  { guardedFetch, print }: { guardedFetch: GuardedFetch; print: PrintEvent },
  signal: AbortSignal,
): Promise<boolean> {
  const line: EventSender = { ctx, guardedFetch, print, signal };
  const due = await findDueEvents(ctx.db, PER_ENDPOINT, AT_ONCE);
  await Promise.all(due.map((event) => (signal.aborted ? undefined : sendEvent(line, event))));
  return due.length > 0;
}

/** The context for sending one event to an endpoint. */
interface EventSender {
  ctx: Context;
  guardedFetch: GuardedFetch;
  print: PrintEvent;
  /** Aborted when the server stops. */
  signal: AbortSignal;
}

async function sendEvent(line: EventSender, due: WebhookEvent): Promise<void> {
  const { ctx, print } = line;
  const endpoint = await findEndpoint(ctx.db, due.endpointId, undefined);
  if (!endpoint) return;
  const printed = due.body === null ? await print(endpoint, due) : { body: due.body, secret: false };
  if (printed === null) {
    await transact(ctx, (tx) => updateEvent(tx, due, { ...NOTHING, state: "dead", error: "nothing is left to tell" }));
    return;
  }
  const kept = printed.secret ? SEALED_BODY + ctx.keyring.seal(printed.body, due.id) : printed.body;
  const event = await transact(ctx, (tx) => claimEvent(tx, due, kept, LEASE_MS));
  if (!event) return;
  const reply = await send(line, endpoint, event.id, opened(ctx, event.id, event.body ?? kept));
  if (reply === null) return;
  await transact(ctx, async (tx) => {
    const to = outcomeOf(ctx, event, reply);
    if (!(await updateEvent(tx, event, to))) return;
    if ("status" in reply && reply.status === 410) await disableEndpoint(tx, endpoint.id);
    await noteEndpoint(tx, endpoint.id, to.state === "delivered", ENDPOINT_GIVEN_UP_MS);
    const after = await findEndpoint(tx, endpoint.id, undefined);
    if (endpoint.enabled && after?.enabled === false) await tellAdminsIn(ctx, tx, disabledNotice(after, to.error));
  });
}

function opened(ctx: Context, id: string, body: string): string {
  const sealed = sealedBodyOf(body);
  return sealed === null ? body : ctx.keyring.open(sealed, id);
}

/** Returns the reply, or the class of what went wrong; nothing where this server is stopping. */
async function send(
  { ctx, guardedFetch, signal }: EventSender,
  endpoint: WebhookEndpoint,
  id: string,
  body: string,
): Promise<GuardedReply | { error: string } | null> {
  const bytes = Buffer.from(body);
  const signed = signedWebhookHeaders(secretsOf(ctx, endpoint), id, ctx.clock.now(), bytes);
  const headers = { "content-type": "application/json", "user-agent": "Parley", ...signed };
  try {
    return await guardedFetch(endpoint.url, { method: "POST", headers, body: bytes, signal });
  } catch (error) {
    if (signal.aborted) return null;
    if (error instanceof AddressRefused) return { error: "address refused" };
    return { error: error instanceof Error && error.name === "TimeoutError" ? "too slow" : "no connection" };
  }
}

function outcomeOf(
  ctx: Context,
  event: WebhookEvent,
  reply: GuardedReply | { error: string },
): Parameters<typeof updateEvent>[2] {
  if ("error" in reply) return { ...NOTHING, ...later(ctx, event, 0), error: reply.error };
  const { status, text, headers } = reply;
  const result = { status, reply: text.replaceAll("\0", "").toWellFormed() };
  if (status >= 200 && status < 300) return { ...NOTHING, ...result, state: "delivered" };
  const wanted = SLOW_DOWN.has(status) ? retryAfterMs(headers["retry-after"], ctx.clock.now()) : 0;
  return { ...NOTHING, ...result, ...later(ctx, event, wanted ?? 0), error: `status ${status}` };
}

function later(
  ctx: Context,
  { attempt }: WebhookEvent,
  retryAfter: number,
): { state: "pending" | "dead"; inMs: number } {
  const luck = (ctx.random(1)[0] ?? 0) / 256;
  const inMs = pauseAfter(attempt, luck, retryAfter);
  return inMs === null ? { state: "dead", inMs: 0 } : { state: "pending", inMs };
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
