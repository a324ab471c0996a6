import type { Loop } from "../lib/loop.ts";
import type { Listening } from "./listening.ts";
import type { Parts } from "./parts.ts";

export interface StopOptions {
  /** Another process holds the sockets and is about to listen at them: no request is refused, and none is lost. */
  handsOver?: boolean;
}

/** Returns what stops a server; called again, it returns the same stop. */
export function openStop(
  parts: Parts,
  listening: Listening,
  loops: readonly Loop[],
): (how?: StopOptions) => Promise<void> {
  let stopped: Promise<void> | null = null;
  const handsOverByItself = parts.outside.sockets.length > 0;
  return ({ handsOver = handsOverByItself } = {}) => (stopped ??= stop(parts, { listening, loops, handsOver }));
}

async function stop(
  { ctx, announced, door, store, tracer, workshop, later, stopping, refusing }: Parts,
  { listening, loops, handsOver }: { listening: Listening; loops: readonly Loop[]; handsOver: boolean },
): Promise<void> {
  if (!handsOver) refusing.abort();
  await listening.leave({ handsOver });
  stopping.abort();
  // point: while-stopping
  await Promise.all(loops.map((loop) => loop.stop()));
  await Promise.all([later.relay?.close(), workshop?.leave()]);
  await listening.close();
  await announced.leave().catch(() => undefined);
  await door.readLimits.merge().catch(() => undefined);
  await Promise.all([ctx.schemas.close(), ctx.secrets.close()]);
  await tracer.close();
  // point: stopped-before-close
  await store.close();
}

/** Closes what a start has opened that cannot go on. */
export async function abandon({ ctx, store, tracer }: Parts): Promise<void> {
  await Promise.all([store.close(), ctx.schemas.close(), ctx.secrets.close(), tracer.close()]);
}
