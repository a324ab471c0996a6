import type { Request } from "./request.ts";

/** An approval as its frozen agent may see it: it still waits. Anything else is as it is. */
export function shownToAgent({ request, isFrozen }: { request: Request; isFrozen: boolean }): Request {
  if (!isFrozen || request.outcome?.approved !== true) return request;
  return { ...request, state: "open", outcome: null, settledAt: null };
}
