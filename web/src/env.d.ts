/// <reference types="vite/client" />

/** The files of the app, put into the service worker by the build. */
declare const PRECACHE: readonly string[];
declare const VERSION: string;

/** The part of Background Sync that is used; only Chromium has it. */
interface SyncManager {
  register(tag: string): Promise<void>;
}
interface ServiceWorkerRegistration {
  readonly sync?: SyncManager;
}

/** The part of Trusted Types that is used. */
interface Window {
  readonly trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL(url: string): string },
    ): { createScriptURL(url: string): string };
  };
}
