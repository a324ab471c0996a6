import type { Context } from "../context.ts";
import type { PushSettings } from "./model/push-settings.ts";
import type { Caller } from "../questions/model/participant.ts";
import { Refusal } from "../refusals.ts";
import {
  deactivateSubscription,
  findNewestActive,
  findSubscription,
  replaceSubscription,
  upsertSubscription,
  type SubscriptionOwner,
} from "./store/push-subscriptions.ts";
import { lockCredential } from "../access/store/credentials.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { welcome } from "../questions/identify.ts";

export interface Subscribed {
  id: string;
  created: boolean;
  issue: string | null;
}

/**
 * Stores where and how often somebody wants to be notified of questions; the same address again updates its settings.
 * Requests to a person are notified there too, for as long as the session or key lasts under which they subscribed.
 *
 * @throws {Refusal} `key_required` where that has just ended
 */
export async function subscribePush(ctx: Context, caller: Caller, settings: PushSettings): Promise<Subscribed> {
  return transact(ctx, async (tx) => {
    const { identity, issue } = await welcome(ctx, tx, caller);
    const owner = await ownerOf(tx, identity.person, caller);
    return { ...(await upsertSubscription(tx, ctx.newId("sub"), owner, settings)), issue };
  });
}

/** Returns whose the subscription is to be; a person's session or key, which it ends with, is held until it is. */
async function ownerOf(tx: Tx, person: string, caller: Caller): Promise<SubscriptionOwner> {
  if (caller.person === undefined) return { person, credential: null };
  const { credential } = caller;
  if (credential === undefined || !(await lockCredential(tx, credential))) throw new Refusal("key_required");
  return { person, credential };
}

/**
 * Gives an existing subscription a new address and settings: the one named, which its unguessable id entitles to and
 * which is the caller's from then on, else the caller's newest of that kind, else a new one.
 *
 * @throws {Refusal} `subscription_not_found` for a named one that does not exist; `key_required` as `subscribePush`
 */
export async function refreshPush(
  ctx: Context,
  caller: Caller,
  subscriptionId: string | undefined,
  settings: PushSettings,
): Promise<Subscribed> {
  return transact(ctx, async (tx) => {
    const { identity, issue } = await welcome(ctx, tx, caller);
    if (subscriptionId !== undefined && !(await findSubscription(tx, subscriptionId))) {
      throw new Refusal("subscription_not_found");
    }
    const owner = await ownerOf(tx, identity.person, caller);
    const id = subscriptionId ?? (await findNewestActive(tx, owner, settings.kind));
    if (id === undefined) return { ...(await upsertSubscription(tx, ctx.newId("sub"), owner, settings)), issue };
    await replaceSubscription(tx, { id, owner, settings });
    return { id, created: false, issue };
  });
}

/** Ends a subscription, also one that has ended. @throws {Refusal} `subscription_not_found` */
export async function unsubscribePush(ctx: Context, subscriptionId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    if (!(await deactivateSubscription(tx, subscriptionId))) {
      throw new Refusal("subscription_not_found");
    }
  });
}
