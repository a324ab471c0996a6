import { ParleyError } from "./errors.ts";
import { sleep } from "./http.ts";

/** A random time from 1 to 4 seconds, so that those who failed together do not come back together. */
export const backOffMs = (): number => 1000 + Math.random() * 3000;

/** True for what the same request may not meet again a little later. */
export function mayPass(error: ParleyError): boolean {
  return error.isPassing || error.status === 429;
}

/**
 * Resolves with what `send` does; while the server is away, failing or asking for patience, it is tried again after 1 to
 * 4 seconds, until `giveUpAt`.
 *
 * @throws {ParleyError} the last refusal, or the signal's reason
 */
export async function persist<T>(
  send: () => Promise<T>,
  { signal, giveUpAt }: { signal: AbortSignal | undefined; giveUpAt: number },
): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ParleyError) || !mayPass(error)) throw error;
      const pauseMs = Math.max((error.retryAfterSeconds ?? 0) * 1000, backOffMs());
      if (Date.now() + pauseMs > giveUpAt) throw error;
      await sleep(pauseMs, signal);
    }
  }
}
