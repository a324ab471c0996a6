import { people } from "./api.ts";
import { recall, remember } from "./device.ts";
import { keepSetting } from "./outbox.ts";

export type PushState = "unsupported" | "denied" | "off" | "on";

export function pushState(): PushState {
  const can = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  if (!can) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return recall("subscription") === null ? "off" : "on";
}

/** This device is told of new questions, at most once in that time. @throws when the browser or the server refuses */
export async function turnOnPush(minutes: number): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") return;
  const registration = await navigator.serviceWorker.ready;
  const existing = await registration.pushManager.getSubscription();
  const subscription = existing ?? (await registration.pushManager.subscribe(await wish()));
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
  // The service worker cannot read what pages remember.
  await keepSetting("subscription", receipt.subscription_id);
}

async function wish(): Promise<PushSubscriptionOptionsInit> {
  return {
    userVisibleOnly: true,
    applicationServerKey: await people.pushKey(),
  };
}

export async function turnOffPush(): Promise<void> {
  const id = recall("subscription");
  remember("subscription", null);
  await keepSetting("subscription", null);
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  if (id !== null) await people.unsubscribe(id).catch(() => {});
}

export function pushInterval(): number {
  return Number(recall("interval") ?? 30);
}
