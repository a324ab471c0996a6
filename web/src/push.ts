import { people } from "./api.ts";
import { recall, remember } from "./device.ts";
import { author } from "./author.ts";
import { keepSetting } from "./outbox.ts";
import { named } from "./settings.ts";

export type PushState = "unsupported" | "denied" | "off" | "on";

export function pushState(): PushState {
  const can = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  if (!can) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return recall("subscription") === null ? "off" : "on";
}

/** Notifies this device of new questions, at most once in that time. @throws when the browser or the server refuses */
export async function turnOnPush(minutes: number): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") return;
  const registration = await navigator.serviceWorker.ready;
  const existing = await registration.pushManager.getSubscription();
  const subscription = existing ?? (await registration.pushManager.subscribe(await subscriptionOptions()));
  const { endpoint = "", keys = {} } = subscription.toJSON();
  const receipt = await people.subscribe({
    subscription: {
      endpoint,
      keys: { p256dh: keys.p256dh ?? "", auth: keys.auth ?? "" },
    },
    min_interval_minutes: minutes,
  });
  remember("subscription", receipt.subscription_id);
  remember("interval", String(minutes));
  remember("subscription.of", owner());
  // The service worker cannot read what pages remember.
  await keepSetting("subscription", receipt.subscription_id);
}

async function subscriptionOptions(): Promise<PushSubscriptionOptionsInit> {
  return {
    userVisibleOnly: true,
    applicationServerKey: await people.pushKey(),
  };
}

/** A subscription is a session's: it ends with that, and with a change of its person's role. */
const owner = (): string => `${author() ?? "none"} ${named.get()}`;

/**
 * Hands notifications, where they are on, to the person who is signed in now; `isNew` says that the session has just
 * begun.
 */
export async function renewPush(isNew: boolean): Promise<void> {
  if (pushState() !== "on" || (!isNew && recall("subscription.of") === owner())) return;
  await turnOnPush(pushInterval());
}

/** Turns notifications off where they belonged to somebody who is no longer signed in. */
export async function dropPush(): Promise<void> {
  const of = recall("subscription.of");
  if (of !== null && !of.startsWith("none ")) await turnOffPush();
}

export async function turnOffPush(): Promise<void> {
  const id = recall("subscription");
  remember("subscription", null);
  remember("subscription.of", null);
  await keepSetting("subscription", null);
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  if (id !== null) await people.unsubscribe(id).catch(() => {});
}

export function pushInterval(): number {
  return Number(recall("interval") ?? 30);
}
