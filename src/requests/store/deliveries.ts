import type { RequestId } from "../../core/model/ids.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { isSlackUser } from "../../channels/slack/kind.ts";
import type { Target } from "../model/request.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { json, rowsOf } from "../../core/store/rows.ts";
import { join, sql } from "../../core/store/sql.ts";
import { DELIVERIES_TOPIC } from "../../core/store/wake.ts";

export type DeliveryState = "queued" | "sending" | "sent" | "closing" | "closed" | "failed" | "skipped";

/** One message to one target about one request: a row first, and sent afterwards. */
export interface Delivery {
  id: string;
  requestId: RequestId;
  kind: "ask" | "remind" | "tell";
  channel: string;
  target: Target;
  /** The enrolled person whom it reaches, known from the start or from when it is first sent. */
  person: string | null;
  /** Its place in the plan; a step goes out once. */
  step: number;
  state: DeliveryState;
  dueAt: number;
  attempt: number;
  /** Fences off a worker whose lease is over. */
  epoch: number;
  externalIds: Readonly<Record<string, string>> | null;
  /** The text that an escalation puts first, or JSON of a note's text (`NoteWords`). */
  words: string | null;
  shownDigest: string | null;
  tries: number;
  lastError: string | null;
  /** When its token was seen in words that agents can read; from then on it answers nothing. */
  exposedAt: number | null;
  createdAt: number;
  changedAt: number;
}

/** `target` is JSON, or the digest of the JSON in `long_target`. */
function targetIn(row: { target: string; long_target: string | null }): Target {
  return JSON.parse(row.long_target ?? row.target) as Target;
}

const deliveryRows = rowsOf<Delivery>()({
  id: "delivery_id",
  requestId: "ask_id",
  kind: "kind",
  channel: "channel",
  target: targetIn,
  person: "person",
  step: "step",
  state: "state",
  dueAt: "due_at",
  attempt: "attempt",
  epoch: "epoch",
  externalIds: json("external_ids"),
  words: "words",
  shownDigest: "shown_digest",
  tries: "tries",
  lastError: "last_error",
  exposedAt: "exposed_at",
  createdAt: "created_at",
  changedAt: "changed_at",
});

export interface NewDelivery {
  id: string;
  requestId: RequestId;
  kind: Delivery["kind"];
  channel: string;
  target: Target;
  person: string | null;
  step: number;
  /** From when on it may go out, counted from now. */
  inMs: number;
  words?: string;
  /** SHA-256 of the one-time link's token and of the reply token. */
  linkHash?: string;
  replyHash?: string;
}

/** PostgreSQL takes no more than 2,704 bytes into an index. */
const MOST_INDEXED_BYTES = 1000;

/** Plans a message, once for each step, channel and target, and wakes its sender if it is due. Returns whether it is new. */
export async function insertDelivery(tx: Tx, one: NewDelivery): Promise<boolean> {
  const target = JSON.stringify(one.target);
  const isLong = Buffer.byteLength(target) > MOST_INDEXED_BYTES;
  const rows = await tx.all(
    sql`INSERT INTO deliveries (delivery_id, ask_id, kind, channel, target, long_target, person, step, state, due_at,
        attempt, epoch, words, link_hash, reply_hash, tries, created_at, changed_at)
      VALUES (${one.id}, ${one.requestId}, ${one.kind}, ${one.channel}, ${isLong ? sha256Hex(target) : target},
        ${isLong ? target : null}, ${one.person}, ${one.step}, 'queued', (SELECT parley_now()) + ${one.inMs}, 0, 0, ${one.words ?? null}, ${one.linkHash ?? null},
        ${one.replyHash ?? null}, 0, (SELECT parley_now()), (SELECT parley_now()))
      ON CONFLICT (ask_id, kind, step, channel, target) DO NOTHING RETURNING delivery_id`,
  );
  if (rows.length > 0 && one.inMs <= 0) tx.wake(DELIVERIES_TOPIC);
  return rows.length > 0;
}

/** Returns up to `limit` messages to be sent or closed now, with the channels they need, longest due first. */
export async function findDueDeliveries(
  on: Queryable,
  channels: readonly string[],
  limit: number,
): Promise<{ id: string; channel: string; epoch: number }[]> {
  if (channels.length === 0) return [];
  const rows = await on.all<{ delivery_id: string; channel: string; epoch: number }>(
    sql`SELECT delivery_id, channel, epoch FROM deliveries
      WHERE state IN ('queued', 'sending', 'closing') AND due_at <= (SELECT parley_now())
        AND channel IN (${join([...channels])})
      ORDER BY due_at LIMIT ${limit}`,
  );
  return rows.map((row) => ({ id: row.delivery_id, channel: row.channel, epoch: row.epoch }));
}

/** Returns about how many requests messages wait that bear this mark, of those whose target fits. */
export async function countHeld(
  on: Queryable,
  channel: string,
  mark: string,
  fits: (one: { channel: string; target: Target }) => boolean,
): Promise<number> {
  const rows = await on.all<{ ask_id: string; target: string; long_target: string | null }>(
    sql`SELECT ask_id, target, long_target FROM deliveries
      WHERE state = 'queued' AND channel = ${channel} AND last_error = ${mark} LIMIT ${MOST_HELD_COUNTED}`,
  );
  const asks = rows.filter((row) => fits({ channel, target: targetIn(row) }));
  return new Set(asks.map((row) => row.ask_id)).size;
}

/** Nobody needs to know a higher number exactly. */
const MOST_HELD_COUNTED = 10_000;

/** Takes a due message from rivals for `leaseMs`; returns nothing when a rival was first. */
export async function claimDelivery(
  tx: Tx,
  { id, epoch }: { id: string; epoch: number },
  leaseMs: number,
): Promise<Delivery | undefined> {
  return deliveryRows.first(
    tx,
    sql`UPDATE deliveries SET epoch = epoch + 1, attempt = attempt + 1, due_at = (SELECT parley_now()) + ${leaseMs},
        state = CASE WHEN state = 'queued' THEN 'sending' ELSE state END
      WHERE delivery_id = ${id} AND epoch = ${epoch} AND state IN ('queued', 'sending', 'closing')
        AND due_at <= (SELECT parley_now())
      RETURNING *`,
  );
}

/** Writes down what became of a claimed message; returns false when its lease was over and somebody else has it. */
export async function updateDelivery(
  tx: Tx,
  { id, epoch }: Pick<Delivery, "id" | "epoch">,
  to: {
    state: DeliveryState;
    inMs?: number;
    attempt?: number;
    externalIds?: Readonly<Record<string, string>>;
    thread?: string;
    shownDigest?: string | null;
    lastError?: string | null;
    /** Whose the address is, where that was not known before. */
    person?: string | null;
  },
): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE deliveries SET state = ${to.state}, due_at = (SELECT parley_now()) + ${to.inMs ?? 0},
        attempt = coalesce(${to.attempt ?? null}, attempt),
        external_ids = coalesce(${to.externalIds ? JSON.stringify(to.externalIds) : null}, external_ids),
        thread = coalesce(${to.thread ?? null}, thread),
        shown_digest = coalesce(${to.shownDigest ?? null}, shown_digest), person = coalesce(person, ${to.person ?? null}),
        last_error = ${to.lastError ?? null}, changed_at = (SELECT parley_now()),
        tried_at = CASE WHEN state = 'closing' THEN tried_at ELSE (SELECT parley_now()) END
      WHERE delivery_id = ${id} AND epoch = ${epoch} RETURNING delivery_id`,
  );
  return rows.length > 0;
}

/** Marks the sent messages about a settled request to be closed, wakes their sender, and skips those not sent yet. */
export async function closeDeliveries(tx: Tx, requestId: RequestId): Promise<void> {
  const rows = await tx.all<{ state: DeliveryState }>(
    sql`UPDATE deliveries SET state = CASE WHEN state = 'sent' THEN 'closing' ELSE 'skipped' END, attempt = 0,
        epoch = epoch + 1, due_at = (SELECT parley_now()), changed_at = (SELECT parley_now())
      WHERE ask_id = ${requestId} AND kind <> ${"tell"} AND state IN (${"sent"}, ${"queued"}) RETURNING state`,
  );
  if (rows.some(({ state }) => state === "closing")) tx.wake(DELIVERIES_TOPIC);
}

/** The message of a later step goes out now instead of waiting for an answer to the one before. */
export async function hastenDelivery(tx: Tx, requestId: RequestId, step: number): Promise<void> {
  await tx.all(
    sql`UPDATE deliveries SET due_at = (SELECT parley_now())
      WHERE ask_id = ${requestId} AND kind = 'ask' AND step = ${step} AND state = 'queued' AND attempt = 0`,
  );
  tx.wake(DELIVERIES_TOPIC);
}

/** Returns every message about a request, in the order they were planned. */
export async function listDeliveries(on: Queryable, requestId: RequestId): Promise<Delivery[]> {
  return deliveryRows.all(
    on,
    sql`SELECT * FROM deliveries WHERE ask_id = ${requestId} ORDER BY created_at, step, delivery_id`,
  );
}

export async function findDelivery(on: Queryable, id: string): Promise<Delivery | undefined> {
  return deliveryRows.first(on, sql`SELECT * FROM deliveries WHERE delivery_id = ${id}`);
}

/** Returns the message whose one-time link, or whose reply token, has this hash. */
export async function findDeliveryByHash(on: Queryable, hash: string): Promise<Delivery | undefined> {
  return deliveryRows.first(
    on,
    sql`SELECT * FROM deliveries WHERE link_hash = ${hash} OR reply_hash = ${hash} LIMIT 1`,
  );
}

/** Returns the messages of a provider's thread, by any of its names, about open requests, newest first. */
export async function findDeliveriesByThread(on: Queryable, ...threads: readonly string[]): Promise<Delivery[]> {
  return deliveryRows.all(
    on,
    sql`SELECT d.* FROM deliveries d JOIN requests a ON a.ask_id = d.ask_id
      WHERE d.thread IN (${join([...threads])}) ORDER BY (a.state = 'open') DESC, d.created_at DESC LIMIT 20`,
  );
}

/**
 * Returns whether a message of somebody's request began a thread on Slack: `to` is as it was named, a channel or a user, in
 * whose direct messages the thread then is.
 */
export async function hasBegunThread(
  on: Queryable,
  asker: string,
  { to, ts }: { to: string; ts: string },
): Promise<boolean> {
  const inThread = isSlackUser(to) ? sql`d.thread LIKE ${`%/${ts}`}` : sql`d.thread = ${`${to}/${ts}`}`;
  const deliveries = await deliveryRows.all(
    on,
    sql`SELECT d.* FROM deliveries d JOIN requests a ON a.ask_id = d.ask_id
      WHERE a.asker = ${asker} AND d.channel = 'slack' AND ${inThread}`,
  );
  return deliveries.some(({ target, externalIds }) => {
    const isThere = externalIds?.["channel"] === to || ("to" in target && target.to === to);
    return isThere && externalIds?.["ts"] === ts;
  });
}

/** Returns the messages about what waits in a conversation and was sent, or is being sent, newest first. */
export async function findDeliveriesInConversation(on: Queryable, conversation: number): Promise<Delivery[]> {
  return deliveryRows.all(
    on,
    sql`SELECT d.* FROM deliveries d JOIN requests a ON a.ask_id = d.ask_id
      WHERE a.conversation = ${conversation} AND a.state = 'open' AND d.kind <> 'tell'
        AND d.state IN ('sending', 'sent') ORDER BY d.created_at DESC LIMIT 20`,
  );
}

/** Takes one of so many tries at a message's code, holding the row; returns false when none is left. */
export async function takeTryIfLeft(tx: Tx, id: string, most: number): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE deliveries SET tries = tries + 1 WHERE delivery_id = ${id} AND tries < ${most} RETURNING tries`,
  );
  return rows.length > 0;
}

/** Gives back a try that was not wrong. */
export async function giveBackTry(tx: Tx, id: string): Promise<void> {
  await tx.all(sql`UPDATE deliveries SET tries = tries - 1 WHERE delivery_id = ${id}`);
}

/** Stores the id of a message received from a provider; returns false if it was received before. */
export async function insertInboundIfNew(tx: Tx, provider: string, id: string): Promise<boolean> {
  const rows = await tx.all(
    sql`INSERT INTO inbound_messages (provider, id, at) VALUES (${provider}, ${id}, parley_now())
      ON CONFLICT (provider, id) DO NOTHING RETURNING id`,
  );
  return rows.length > 0;
}

/**
 * Deletes up to `limit` ids of messages received longer ago than this; true when there may be more. A signature of
 * Twilio holds no time, so that a message could be replayed for ever: its ids are kept for ever (spec/channels 1.4).
 */
export async function deleteOldInbound(tx: Tx, keptMs: number, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM inbound_messages WHERE (provider, id) IN
      (SELECT provider, id FROM inbound_messages
        WHERE provider <> 'twilio' AND at <= (SELECT parley_now()) - ${keptMs} ORDER BY at LIMIT ${limit})
      RETURNING id`,
  );
  return rows.length === limit;
}
