import type { RequestId } from "../../core/model/ids.ts";
import type { ListPosition } from "../../core/model/list-page.ts";
import type { DELIVERY_STATES, WebhookFormat } from "../model/webhook-events.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { flag, json, rowsOf } from "../../core/store/rows.ts";
import { empty, join, raw, sql } from "../../core/store/sql.ts";
import { isHeldBack } from "../../requests/store/call-outcomes.ts";

/** The place where an agent receives events. */
export interface WebhookEndpoint {
  id: string;
  /** The principal whose it is. */
  agent: string;
  url: string;
  format: WebhookFormat;
  events: readonly string[];
  description: string;
  enabled: boolean;
  /** Sealed: what signs, the newest first. */
  secrets: string;
  /** When the first of the failed attempts was made that no success follows. */
  failingSince: number | null;
  /** The error of the last of them. */
  lastError: string | null;
  createdAt: number;
}

/** An event for one endpoint. */
export interface WebhookEvent {
  id: string;
  endpointId: string;
  event: string;
  requestId: RequestId | null;
  /** The uid of the person's message, where the event is about one. */
  message: string | null;
  /** Written down at the first attempt, and the same ever after. */
  body: string | null;
  state: (typeof DELIVERY_STATES)[number];
  dueAt: number;
  attempt: number;
  epoch: number;
  status: number | null;
  error: string | null;
  createdAt: number;
  changedAt: number;
}

const LAST_ERROR = sql`CASE WHEN failing_since IS NOT NULL THEN
  (SELECT v.error FROM webhook_events v WHERE v.endpoint_id = e.endpoint_id AND v.error IS NOT NULL
    ORDER BY v.changed_at DESC LIMIT 1) END AS last_error`;

const endpointRows = rowsOf<WebhookEndpoint>()({
  id: "endpoint_id",
  agent: "agent",
  url: "url",
  format: "format",
  description: "description",
  events: json("events"),
  enabled: flag("enabled"),
  secrets: "secrets",
  failingSince: "failing_since",
  lastError: ({ last_error: lastError = null }: { last_error?: string | null }) => lastError,
  createdAt: "created_at",
});

const eventRows = rowsOf<WebhookEvent>()({
  id: "event_id",
  endpointId: "endpoint_id",
  event: "event",
  requestId: "ask_id",
  message: "message",
  body: "body",
  state: "state",
  dueAt: "due_at",
  attempt: "attempt",
  epoch: "epoch",
  status: "status",
  error: "error",
  createdAt: "created_at",
  changedAt: "changed_at",
});

/** The details that somebody enters about an endpoint. */
export type EndpointInput = Pick<WebhookEndpoint, "url" | "format" | "events" | "description" | "enabled">;

export async function insertEndpoint(
  tx: Tx,
  input: EndpointInput & Pick<WebhookEndpoint, "id" | "agent" | "secrets">,
): Promise<WebhookEndpoint> {
  return endpointRows.one(
    tx,
    sql`INSERT INTO webhook_endpoints (endpoint_id, agent, url, format, events, description, enabled, secrets, created_at)
      VALUES (${input.id}, ${input.agent}, ${input.url}, ${input.format}, ${JSON.stringify(input.events)},
        ${input.description}, ${input.enabled ? 1 : 0}, ${input.secrets}, parley_now()) RETURNING *`,
  );
}

/** Changes what is written down of an endpoint. One that is enabled has not failed yet. */
export async function updateEndpoint(
  tx: Tx,
  endpoint: EndpointInput & Pick<WebhookEndpoint, "id" | "secrets">,
): Promise<WebhookEndpoint> {
  return endpointRows.one(
    tx,
    sql`UPDATE webhook_endpoints SET url = ${endpoint.url}, format = ${endpoint.format},
        events = ${JSON.stringify(endpoint.events)}, description = ${endpoint.description},
        enabled = ${endpoint.enabled ? 1 : 0}, secrets = ${endpoint.secrets}, failing_since = NULL
      WHERE endpoint_id = ${endpoint.id} RETURNING *`,
  );
}

/** Deletes the endpoint and all its events. */
export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.all(sql`DELETE FROM webhook_events WHERE endpoint_id = ${id}`);
  await tx.all(sql`DELETE FROM webhook_endpoints WHERE endpoint_id = ${id}`);
}

/** Returns an endpoint, of one agent or of any. */
export async function findEndpoint(
  on: Queryable,
  id: string,
  agent: string | undefined,
): Promise<WebhookEndpoint | undefined> {
  const whose = agent === undefined ? empty : sql`AND agent = ${agent}`;
  return endpointRows.first(
    on,
    sql`SELECT e.*, ${LAST_ERROR} FROM webhook_endpoints e WHERE endpoint_id = ${id} ${whose}`,
  );
}

/** Returns the endpoints of one agent, or of all, oldest first: every one, or one page. */
export async function listEndpoints(
  on: Queryable,
  agent: string | undefined,
  page?: { after?: ListPosition; limit: number },
): Promise<WebhookEndpoint[]> {
  const { after } = page ?? {};
  return endpointRows.all(
    on,
    sql`SELECT e.*, ${LAST_ERROR} FROM webhook_endpoints e WHERE 1 = 1
        ${agent === undefined ? empty : sql`AND agent = ${agent}`}
        ${after === undefined ? empty : sql`AND (created_at, endpoint_id) > (${after.at}, ${after.id})`}
      ORDER BY created_at, endpoint_id ${page ? sql`LIMIT ${page.limit}` : empty}`,
  );
}

/** Plans an event for an endpoint, once for each id. */
export async function insertEvent(
  tx: Tx,
  event: Pick<WebhookEvent, "id" | "endpointId" | "event"> & { requestId?: RequestId; message?: string; body?: string },
): Promise<void> {
  await tx.all(
    sql`INSERT INTO webhook_events (event_id, endpoint_id, event, ask_id, message, body, state, due_at, attempt,
        epoch, created_at, changed_at)
      VALUES (${event.id}, ${event.endpointId}, ${event.event}, ${event.requestId ?? null}, ${event.message ?? null},
        ${event.body ?? null}, 'pending',
        (SELECT parley_now()), 0, 0, (SELECT parley_now()), (SELECT parley_now()))
      ON CONFLICT (event_id) DO NOTHING`,
  );
}

/**
 * Returns the events that are due, up to `perEndpoint` of each enabled endpoint, longest due first. That of an approval
 * waits while its agent is frozen.
 */
export async function findDueEvents(on: Queryable, perEndpoint: number, limit: number): Promise<WebhookEvent[]> {
  return eventRows.all(
    on,
    sql`SELECT * FROM (
        SELECT v.*, row_number() OVER (PARTITION BY v.endpoint_id ORDER BY v.due_at) AS place
        FROM webhook_events v JOIN webhook_endpoints e ON e.endpoint_id = v.endpoint_id
        WHERE v.state = 'pending' AND v.due_at <= (SELECT parley_now()) AND e.enabled = 1
          AND NOT ${isHeldBack(raw("v.ask_id"))}) due
      WHERE place <= ${perEndpoint} ORDER BY due_at LIMIT ${limit}`,
  );
}

/** Takes a due event from rivals for `leaseMs`; returns nothing when a rival was first, or its agent was frozen meanwhile. */
export async function claimEvent(
  tx: Tx,
  { id, epoch }: Pick<WebhookEvent, "id" | "epoch">,
  body: string,
  leaseMs: number,
): Promise<WebhookEvent | undefined> {
  return eventRows.first(
    tx,
    sql`UPDATE webhook_events SET epoch = epoch + 1, attempt = attempt + 1, body = coalesce(body, ${body}),
        due_at = (SELECT parley_now()) + ${leaseMs}
      WHERE event_id = ${id} AND epoch = ${epoch} AND state = 'pending'
        AND NOT ${isHeldBack(raw("webhook_events.ask_id"))} RETURNING *`,
  );
}

/** Writes down what became of an attempt; nothing where its lease was over and somebody else has it. */
export async function updateEvent(
  tx: Tx,
  { id, epoch }: Pick<WebhookEvent, "id" | "epoch">,
  to: { state: WebhookEvent["state"]; inMs: number; status: number | null; error: string | null; reply: string | null },
): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE webhook_events SET state = ${to.state}, due_at = (SELECT parley_now()) + ${to.inMs},
        status = ${to.status}, error = ${to.error}, reply = ${to.reply}, changed_at = (SELECT parley_now())
      WHERE event_id = ${id} AND epoch = ${epoch} RETURNING event_id`,
  );
  return rows.length > 0;
}

/** Notes that an endpoint took something, or since when it has taken nothing; gives it up after `givenUpMs`. */
export async function noteEndpoint(tx: Tx, id: string, took: boolean, givenUpMs: number): Promise<void> {
  await tx.all(
    took
      ? sql`UPDATE webhook_endpoints SET failing_since = NULL WHERE endpoint_id = ${id} AND failing_since IS NOT NULL`
      : sql`UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, parley_now()),
            enabled = CASE WHEN coalesce(failing_since, parley_now()) <= parley_now() - ${givenUpMs} THEN 0 ELSE enabled END
          WHERE endpoint_id = ${id}`,
  );
}

/** Disables the endpoint, which receives nothing more until somebody enables it. */
export async function disableEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.all(sql`UPDATE webhook_endpoints SET enabled = 0 WHERE endpoint_id = ${id}`);
}

/** Returns the events of an endpoint, newest first, that are older than `before`. */
export async function listEvents(
  on: Queryable,
  endpointId: string,
  page: { state?: WebhookEvent["state"]; before?: { at: number; id: string }; limit: number },
): Promise<WebhookEvent[]> {
  const state = page.state === undefined ? empty : sql`AND state = ${page.state}`;
  const before = page.before ? sql`AND (created_at, event_id) < (${page.before.at}, ${page.before.id})` : empty;
  return eventRows.all(
    on,
    sql`SELECT * FROM webhook_events WHERE endpoint_id = ${endpointId} ${state} ${before}
      ORDER BY created_at DESC, event_id DESC LIMIT ${page.limit}`,
  );
}

/** Sends these events again, from the first attempt on. Returns how many there were. */
export async function repeatEvents(
  tx: Tx,
  endpointId: string,
  which: { id: string } | { sinceMs: number },
): Promise<number> {
  const only = "id" in which ? sql`event_id IN (${join([which.id])})` : sql`created_at >= ${which.sinceMs}`;
  const rows = await tx.all(
    sql`UPDATE webhook_events SET state = 'pending', attempt = 0, epoch = epoch + 1, due_at = (SELECT parley_now()),
        changed_at = (SELECT parley_now())
      WHERE endpoint_id = ${endpointId} AND ${only} RETURNING event_id`,
  );
  return rows.length;
}

/**
 * Deletes events that were sent, or given up, longer ago than `keptMs`, and those that wait for a disabled endpoint
 * longer than that. Returns whether there may be more.
 */
export async function deleteOldEvents(tx: Tx, keptMs: number, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM webhook_events WHERE event_id IN (
        SELECT v.event_id FROM webhook_events v JOIN webhook_endpoints e ON e.endpoint_id = v.endpoint_id
        WHERE v.changed_at <= (SELECT parley_now()) - ${keptMs} AND (v.state <> 'pending' OR e.enabled = 0)
        LIMIT ${limit})
      RETURNING event_id`,
  );
  return rows.length === limit;
}
