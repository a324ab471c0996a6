import type { Context } from "../context.ts";
import { findEndedCredentials } from "./store/credentials.ts";
import { credentialTopic } from "../core/store/wake.ts";

/** True while every one of these hashes is a live key's or a live session's. */
export async function areGood(ctx: Pick<Context, "db">, hashes: readonly string[]): Promise<boolean> {
  return hashes.length === 0 || (await findEndedCredentials(ctx.db, hashes)).length === 0;
}

/**
 * Calls `end` once one of these keys or sessions is good no more, within about a second of that, until it is disposed
 * of (spec/invariants T7). A caller that must not send anything more asks `areGood` before each message.
 */
export function followCredentials(
  ctx: Pick<Context, "db" | "wake" | "log">,
  hashes: readonly string[],
  end: () => void,
): Disposable {
  const look = () => {
    areGood(ctx, hashes).then(
      (good) => good || end(),
      (err: unknown) => ctx.log.warn({ err }, "whether a key is still good could not be read"),
    );
  };
  const stops = hashes.map((hash) => ctx.wake.subscribe(credentialTopic(hash), look));
  return {
    [Symbol.dispose]() {
      for (const stop of stops) stop();
    },
  };
}
