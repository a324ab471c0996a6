const WORKER = "/sw.js";

/** The app works without a connection from its next visit on. Resolves also where the browser has no such thing. */
export async function registerServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const policy = window.trustedTypes?.createPolicy("parley", {
    createScriptURL(url) {
      if (url !== WORKER) throw new TypeError("Only the app's own service worker is loaded by address.");
      return url;
    },
  });
  // The DOM's types still know only strings here.
  const url = (policy?.createScriptURL(WORKER) ?? WORKER) as string;
  await navigator.serviceWorker.register(url).catch(() => {});
}
