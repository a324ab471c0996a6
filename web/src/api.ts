import { People } from "@parley/sdk/people";
import { deviceName } from "./device.ts";
import { language } from "./language.ts";
import { createStore } from "./store.ts";

/**
 * Whether the server answered last time. The browser's own idea of being online says nothing about a server on
 * the same computer, or one that is down.
 */
export const reachable = createStore(true);

/** How far the server's clock is ahead of this device's. */
let aheadMs = 0;

/** The server's time, as far as its replies tell: what a deadline is to be compared with. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

/** Fetches in the language of the app, and notes whether the server answers and what time it has. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const headers = new Headers(init?.headers);
    headers.set("accept-language", language);
    const reply = await fetch(input, { ...init, headers });
    reachable.set(true);
    const serverMs = Date.parse(reply.headers.get("date") ?? "");
    // The header has whole seconds, and the reply took a moment: small differences mean nothing.
    if (!Number.isNaN(serverMs)) aheadMs = Math.abs(serverMs - Date.now()) > 2500 ? serverMs - Date.now() : 0;
    return reply;
  } catch (error) {
    if (!init?.signal?.aborted) reachable.set(false);
    throw error;
  }
}

/** This device, as the server knows it. Made anew after an erasure, when the device has a new name. */
export let people = connect();

function connect(): People {
  return new People({
    url: location.origin,
    credential: "cookie",
    fingerprint: deviceName(),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    retries: 1,
    fetch: watchedFetch,
  });
}

export function reconnect(): void {
  people = connect();
}
