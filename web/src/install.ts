import { createStore } from "./store.ts";

interface InstallPrompt extends Event {
  prompt(): Promise<unknown>;
}

/** The browser's offer to install the app, where it makes one. */
export const installOffer = createStore<InstallPrompt | null>(null);

addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  installOffer.set(event as InstallPrompt);
});
addEventListener("appinstalled", () => installOffer.set(null));
