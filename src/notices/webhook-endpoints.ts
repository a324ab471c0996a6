import type { Context } from "../context.ts";
import type { Request } from "../requests/model/request.ts";
import { type ListPage, type ListPosition, pageOf } from "../core/model/list-page.ts";
import { wantsEvent } from "./model/webhook-events.ts";
import { Refusal } from "../refusals.ts";
import { appendAudit, type Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import * as store from "./store/webhooks.ts";
import type { EndpointInput, WebhookEndpoint, WebhookEvent } from "./store/webhooks.ts";
import { WEBHOOKS_TOPIC } from "../core/store/wake.ts";

export type { EndpointInput, WebhookEndpoint, WebhookEvent } from "./store/webhooks.ts";

const SECRET_BYTES = 32;
/** For so long the secret before signs too. */
const ROTATION_MS = 24 * 3_600_000;

interface Secret {
  text: string;
  /** Until when it signs; null for the newest. */
  until: number | null;
}

/** Returns what signs the requests to an endpoint now, the newest first. */
export function secretsOf(ctx: Pick<Context, "keyring" | "clock">, { id, secrets }: WebhookEndpoint): string[] {
  const now = ctx.clock.now();
  return readSecrets(ctx, id, secrets)
    .filter(({ until }) => until === null || until > now)
    .map(({ text }) => text);
}

function readSecrets({ keyring }: Pick<Context, "keyring">, id: string, sealed: string): Secret[] {
  return JSON.parse(keyring.open(sealed, id)) as Secret[];
}

function newSecret({ random }: Pick<Context, "random">): string {
  return `whsec_${Buffer.from(random(SECRET_BYTES)).toString("base64")}`;
}

/**
 * Creates an endpoint that receives the agent's events from now on. Its secret is returned this once, and stored
 * encrypted.
 */
export async function createEndpoint(
  ctx: Context,
  agent: string,
  input: EndpointInput,
  by: Actor,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const id = ctx.newId("whe");
  const secret = newSecret(ctx);
  const secrets = ctx.keyring.seal(JSON.stringify([{ text: secret, until: null } satisfies Secret]), id);
  const endpoint = await transact(ctx, async (tx) => {
    await note(tx, by, { id, agent }, "created");
    return store.insertEndpoint(tx, { ...input, id, agent, secrets });
  });
  return { endpoint, secret };
}

/** Returns an endpoint of an agent, or of any. @throws {Refusal} `subscription_not_found` */
export async function readEndpoint(
  ctx: Pick<Context, "db">,
  id: string,
  agent: string | undefined,
): Promise<WebhookEndpoint> {
  const found = await store.findEndpoint(ctx.db, id, agent);
  if (!found) throw new Refusal("subscription_not_found");
  return found;
}

/** Returns every endpoint of an agent, or of all agents, the oldest first. */
export async function listEndpoints(ctx: Pick<Context, "db">, agent: string | undefined): Promise<WebhookEndpoint[]> {
  return store.listEndpoints(ctx.db, agent);
}

/** Returns one page of them. */
export async function listEndpointsFrom(
  ctx: Pick<Context, "db">,
  agent: string | undefined,
  page: { after?: ListPosition; limit: number },
): Promise<ListPage<WebhookEndpoint>> {
  const found = await store.listEndpoints(ctx.db, agent, { ...page, limit: page.limit + 1 });
  return pageOf(found, page.limit, ({ createdAt: at, id }) => ({ at, id }));
}

/** The endpoint is as it is written down now. */
export async function changeEndpoint(ctx: Context, endpoint: WebhookEndpoint, by: Actor): Promise<WebhookEndpoint> {
  return transact(ctx, async (tx) => {
    await note(tx, by, endpoint, "updated");
    tx.wake(WEBHOOKS_TOPIC);
    return store.updateEndpoint(tx, endpoint);
  });
}

/** Deletes an endpoint and its events. */
export async function removeEndpoint(ctx: Context, { id, agent }: WebhookEndpoint, by: Actor): Promise<void> {
  await transact(ctx, async (tx) => {
    await note(tx, by, { id, agent }, "deleted");
    await store.deleteEndpoint(tx, id);
  });
}

/** The endpoint has a new secret, returned this once; for a day the one before signs beside it. */
export async function rotateSecret(ctx: Context, endpoint: WebhookEndpoint, by: Actor): Promise<string> {
  const text = newSecret(ctx);
  const [before] = readSecrets(ctx, endpoint.id, endpoint.secrets);
  const until = ctx.clock.now() + ROTATION_MS;
  const both: Secret[] = [{ text, until: null }, ...(before ? [{ ...before, until }] : [])];
  await changeEndpoint(ctx, { ...endpoint, secrets: ctx.keyring.seal(JSON.stringify(both), endpoint.id) }, by);
  return text;
}

/**
 * Sends the endpoint an event that did not happen, to try it. The sender makes up its content. Returns the id of the
 * event.
 */
export async function sendTestEvent(
  ctx: Pick<Context, "db" | "wake" | "newId">,
  { id }: WebhookEndpoint,
  event: string,
): Promise<string> {
  const eventId = ctx.newId("msg");
  await transact(ctx, async (tx) => {
    await store.insertEvent(tx, { id: eventId, endpointId: id, event });
    tx.wake(WEBHOOKS_TOPIC);
  });
  return eventId;
}

/** Returns a page of an endpoint's events, newest first. */
export async function listWebhookEvents(
  ctx: Pick<Context, "db">,
  { id }: WebhookEndpoint,
  page: Parameters<typeof store.listEvents>[2],
): Promise<WebhookEvent[]> {
  return store.listEvents(ctx.db, id, page);
}

/** Sends one event, or all since a time, again. @throws {Refusal} `subscription_not_found` for an unknown event */
export async function repeatWebhookEvents(
  ctx: Context,
  { id }: WebhookEndpoint,
  which: { id: string } | { sinceMs: number },
): Promise<number> {
  return transact(ctx, async (tx) => {
    const count = await store.repeatEvents(tx, id, which);
    if (count === 0 && "id" in which) throw new Refusal("subscription_not_found");
    tx.wake(WEBHOOKS_TOPIC);
    return count;
  });
}

/**
 * Plans an event on how an ask ended for every endpoint of the asker that wants it, in the transaction that ends the
 * ask.
 */
export async function planWebhooks(tx: Tx, request: Request, event: string): Promise<void> {
  for (const { id, format, events, enabled } of await store.listEndpoints(tx, request.asker)) {
    if (!enabled || !wantsEvent(format, events, event)) continue;
    await store.insertEvent(tx, { id: `msg_${request.id}_${id}`, endpointId: id, event, requestId: request.id });
    tx.wake(WEBHOOKS_TOPIC);
  }
}

async function note(
  tx: Tx,
  by: Actor,
  { id, agent }: Pick<WebhookEndpoint, "id" | "agent">,
  action: string,
): Promise<void> {
  await appendAudit(tx, { actor: by, action: `webhook_endpoint.${action}`, agent, data: { endpoint: id } });
}
