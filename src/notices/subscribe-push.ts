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
} from "./store/push-subscriptions.ts";
import { transact } from "../core/store/transact.ts";
import { welcome } from "../questions/identify.ts";

export interface Subscribed {
  id: string;
  created: boolean;
  issue: string | null;
}

/** Keeps where and how often a person wants to be told of questions; the same address again updates its settings. */
export async function subscribePush(ctx: Context, caller: Caller, settings: PushSettings): Promise<Subscribed> {
  return transact(ctx, async (tx) => {
    const { identity, issue } = await welcome(ctx, tx, caller);
    return { ...(await upsertSubscription(tx, ctx.newId("sub"), identity.person, settings)), issue };
  });
}

/**
 * Gives an existing subscription a new address and settings: the one named, which its unguessable id entitles to, else
 * the person's newest of that kind, else a new one.
 *
 * @throws {Refusal} `subscription_not_found` for a named one that does not exist
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
    const id = subscriptionId ?? (await findNewestActive(tx, identity.person, settings.kind));
    if (id === undefined)
      return { ...(await upsertSubscription(tx, ctx.newId("sub"), identity.person, settings)), issue };
    await replaceSubscription(tx, id, settings);
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
