import type { Context } from "../context.ts";
import { INBOX_TOPIC, watch } from "../store/wake.ts";
import { listInboxOf } from "./read-addressed.ts";

/** Changes within this time are told together. */
const GATHER_MS = 100;
/** Without any word of a change the inbox is read again after this long: words between nodes may be lost. */
const QUIET_MS = 10_000;
/** Beyond so many open asks a change is told without saying of what. */
const COMPARED_MOST = 200;

/**
 * Yields the ids of asks that have come into somebody's inbox, changed in it, or ended, from now on; null stands for
 * something further down, and comes first of all: what changed while the follower was on the way is not compared. Hints
 * only: whoever follows reads.
 */
export async function* followInbox(
  ctx: Context,
  person: string,
  signal: AbortSignal,
): AsyncGenerator<readonly (string | null)[]> {
  using changes = watch(ctx, [INBOX_TOPIC], [signal, ctx.stopping]);
  let known = await versions(ctx, person);
  yield [null];
  while (!signal.aborted && !ctx.stopping.aborted) {
    await changes.next(QUIET_MS);
    await ctx.clock.sleep(GATHER_MS, signal);
    if (signal.aborted || ctx.stopping.aborted) return;
    const now = await versions(ctx, person);
    const changed: (string | null)[] = [...new Set([...known.keys(), ...now.keys()])].filter(
      (id) => known.get(id) !== now.get(id),
    );
    if (changed.length === 0 && now.size === COMPARED_MOST) changed.push(null);
    known = now;
    yield changed;
  }
}

async function versions(ctx: Context, person: string): Promise<Map<string, number>> {
  const open = await listInboxOf(ctx, person, { state: "open", limit: COMPARED_MOST });
  return new Map(open.map(({ id, version }) => [id, version]));
}
