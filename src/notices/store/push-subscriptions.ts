import type { PushDevice } from "../model/push-message.ts";
import type { PushSettings } from "../model/push-settings.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { isLiveCredential } from "../../access/store/credentials.ts";
import { sql } from "../../core/store/sql.ts";

/** The owner of a subscription: a participant of the crowd, or a person, with the session or key that it ends with. */
export interface SubscriptionOwner {
  person: string;
  credential: string | null;
}

/**
 * Stores the subscription under `newId`, or updates the one with the same token or endpoint; the id that holds is
 * returned.
 */
export async function upsertSubscription(
  tx: Tx,
  newId: string,
  { person, credential }: SubscriptionOwner,
  settings: PushSettings,
): Promise<{ id: string; created: boolean }> {
  const quiet = settings.quietHours && JSON.stringify(settings.quietHours);
  const keys = settings.keys && JSON.stringify(settings.keys);
  const row = await one<{ subscription_id: string }>(
    tx,
    sql`INSERT INTO push_subscriptions (subscription_id, person, credential, kind, address, keys, min_interval_minutes,
        audience, quiet_hours, active, created_at, updated_at)
      VALUES (${newId}, ${person}, ${credential}, ${settings.kind}, ${settings.address}, ${keys},
        ${settings.minIntervalMinutes}, ${JSON.stringify(settings.audience)}, ${quiet}, 1, parley_now(), parley_now())
      ON CONFLICT (kind, address) DO UPDATE SET person = excluded.person, credential = excluded.credential, keys = excluded.keys,
        min_interval_minutes = excluded.min_interval_minutes, audience = excluded.audience,
        quiet_hours = excluded.quiet_hours, active = 1, updated_at = excluded.updated_at
      RETURNING subscription_id`,
  );
  return { id: row.subscription_id, created: row.subscription_id === newId };
}

/** Returns the subscription's owner, or nothing. */
export async function findSubscription(
  on: Queryable,
  id: string,
): Promise<{ id: string; person: string; kind: "fcm" | "web" } | undefined> {
  const row = await first<{ subscription_id: string; person: string; kind: "fcm" | "web" }>(
    on,
    sql`SELECT subscription_id, person, kind FROM push_subscriptions WHERE subscription_id = ${id}`,
  );
  return row && { id: row.subscription_id, person: row.person, kind: row.kind };
}

/** Returns the owner's newest active subscription of that kind, or nothing. */
export async function findNewestActive(
  on: Queryable,
  { person, credential }: SubscriptionOwner,
  kind: "fcm" | "web",
): Promise<string | undefined> {
  const row = await first<{ subscription_id: string }>(
    on,
    sql`SELECT subscription_id FROM push_subscriptions WHERE person = ${person} AND kind = ${kind} AND active = 1
        AND credential IS NOT DISTINCT FROM ${credential}
      ORDER BY created_at DESC, updated_at DESC, subscription_id LIMIT 1`,
  );
  return row?.subscription_id;
}

/** Gives a subscription an owner, an address and settings. Another row that held the address gives way. */
export async function replaceSubscription(
  tx: Tx,
  { id, owner, settings }: { id: string; owner: SubscriptionOwner; settings: PushSettings },
): Promise<void> {
  const quiet = settings.quietHours && JSON.stringify(settings.quietHours);
  const keys = settings.keys && JSON.stringify(settings.keys);
  await tx.all(sql`DELETE FROM push_subscriptions
    WHERE kind = ${settings.kind} AND address = ${settings.address} AND subscription_id <> ${id}`);
  await tx.all(sql`UPDATE push_subscriptions SET person = ${owner.person}, credential = ${owner.credential},
      kind = ${settings.kind}, address = ${settings.address}, keys = ${keys},
      min_interval_minutes = ${settings.minIntervalMinutes}, audience = ${JSON.stringify(settings.audience)},
      quiet_hours = ${quiet}, active = 1, updated_at = parley_now()
    WHERE subscription_id = ${id}`);
}

/** Ends a subscription. Returns false when no subscription has that id. */
export async function deactivateSubscription(tx: Tx, id: string): Promise<boolean> {
  const row = await first(
    tx,
    sql`UPDATE push_subscriptions SET active = 0, updated_at = parley_now() WHERE subscription_id = ${id} RETURNING subscription_id`,
  );
  return row !== undefined;
}

/** Deletes the person's subscriptions, and the notices of them. */
export async function deleteDevicesOf(tx: Tx, person: string): Promise<void> {
  await tx.all(sql`DELETE FROM notices WHERE subscription_id IN
    (SELECT subscription_id FROM push_subscriptions WHERE person = ${person})`);
  await tx.all(sql`DELETE FROM push_subscriptions WHERE person = ${person}`);
}

/**
 * Returns where an active subscription leads, and when it wants quiet. A notice that is addressed to a person leads
 * nowhere once the subscription is somebody else's, or its session or key is over.
 */
export async function findDevice(
  on: Queryable,
  { device, person, kind }: { device: string; person: string; kind: "crowd" | "addressed" },
): Promise<(PushDevice & { quietHours: PushSettings["quietHours"] }) | undefined> {
  const row = await first<{ kind: "fcm" | "web"; address: string; keys: string | null; quiet_hours: string | null }>(
    on,
    sql`SELECT kind, address, keys, quiet_hours FROM push_subscriptions WHERE subscription_id = ${device} AND active = 1
      AND (${kind === "crowd" ? 1 : 0} = 1
        OR (person = ${person} AND ${isLiveCredential(sql`push_subscriptions.credential`)}))`,
  );
  return (
    row && {
      kind: row.kind,
      address: row.address,
      keys: row.keys === null ? null : (JSON.parse(row.keys) as PushDevice["keys"]),
      quietHours: row.quiet_hours === null ? null : (JSON.parse(row.quiet_hours) as PushSettings["quietHours"]),
    }
  );
}

/** Ends a subscription whose push service knows it no more, unless it has been given another address since. */
export async function deactivateIfStillAt(tx: Tx, id: string, address: string): Promise<void> {
  await tx.all(
    sql`UPDATE push_subscriptions SET active = 0, updated_at = parley_now()
      WHERE subscription_id = ${id} AND address = ${address}`,
  );
}
