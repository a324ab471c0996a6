/// <reference lib="webworker" />
/** Makes the app open without a network, sends what waits when it returns, and shows what is pushed. */
import { People } from "@parley/sdk/people";
import { keptSetting, sendWaiting } from "./outbox.ts";
import { dropStale } from "./stale-caches.ts";

declare const self: ServiceWorkerGlobalScope;

const CACHE = `parley-${VERSION}`;
const SHELL = "/index.html";
const APP_PATHS = /^\/($|q\/|me$|leaderboard$|inbox($|\/)|console($|\/))/;
/** A page that takes longer than this comes from the device. */
const PATIENCE_MS = 3000;

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(PRECACHE.map((file) => new Request(`/${file}`, { cache: "reload" }))))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(dropStale(caches, CACHE).then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate") {
    if (APP_PATHS.test(url.pathname)) event.respondWith(page(request));
  } else if (PRECACHE.includes(url.pathname.slice(1))) {
    event.respondWith(ownMatch(url.pathname).then((kept) => kept ?? fetch(request)));
  } else if (url.pathname.startsWith("/assets/")) {
    // Named after its content, so any release that has it has the same.
    event.respondWith(caches.match(url.pathname).then((kept) => kept ?? fetch(request)));
  }
});

/** Returns a file of this release. */
async function ownMatch(path: string): Promise<Response | undefined> {
  return (await caches.open(CACHE)).match(path);
}

async function page(request: Request): Promise<Response> {
  const kept = await ownMatch(SHELL);
  if (!kept) return fetch(request);
  const patience = new Promise<Response>((resolve) => setTimeout(() => resolve(kept.clone()), PATIENCE_MS));
  return Promise.race([fetch(request).catch(() => kept), patience]);
}

self.addEventListener("sync", (event) => {
  const { tag, waitUntil } = event as ExtendableEvent & { tag: string };
  // A rejection asks the browser to try again later.
  if (tag === "outbox") {
    waitUntil.call(
      event,
      sendWaiting().then((empty) => (empty ? undefined : Promise.reject(new Error("Some answers still wait.")))),
    );
  }
});

interface Pushed {
  notification?: { title?: string; body?: string; navigate?: string; tag?: string; data?: { url?: string } };
}

self.addEventListener("push", (event) => {
  const pushed = (event.data?.json() ?? {}) as Pushed;
  const { title = "A question for you", body = "", navigate, tag, data } = pushed.notification ?? {};
  const url = data?.url ?? navigate ?? "/";
  event.waitUntil(
    self.registration.showNotification(title, {
      body,
      tag: tag ?? url,
      icon: "/icons/notification.png",
      badge: "/icons/badge.png",
      data: { url },
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const url = new URL((event.notification.data as { url?: string } | null)?.url ?? "/", self.location.origin);
  if (url.origin === self.location.origin) event.waitUntil(show(url.href));
});

async function show(url: string): Promise<void> {
  const [open] = await self.clients.matchAll({ type: "window" });
  if (!open) return void (await self.clients.openWindow(url));
  await open.focus();
  await open.navigate(url);
}

self.addEventListener("pushsubscriptionchange", (event) => {
  const { oldSubscription, waitUntil } = event as ExtendableEvent & { oldSubscription: PushSubscription | null };
  if (oldSubscription) waitUntil.call(event, renew(oldSubscription.options));
});

async function renew(options: PushSubscriptionOptions): Promise<void> {
  const id = await keptSetting("subscription");
  const { userVisibleOnly, applicationServerKey } = options;
  const fresh = await self.registration.pushManager.subscribe({ userVisibleOnly, applicationServerKey });
  const { endpoint = "", keys = {} } = fresh.toJSON();
  const people = new People({ url: location.origin, credential: "cookie" });
  await people.updateSubscription({
    ...(id === undefined ? {} : { subscription_id: id }),
    subscription: { endpoint, keys: { p256dh: keys.p256dh ?? "", auth: keys.auth ?? "" } },
  });
}
