import type { GuardedFetch } from "../../lib/network/guarded-fetch.ts";

export interface PushOutside {
  /** For endpoints, which come from browsers. */
  guardedFetch: GuardedFetch;
  /** For Google's own addresses. */
  fetch: typeof globalThis.fetch;
  now: () => number;
}
