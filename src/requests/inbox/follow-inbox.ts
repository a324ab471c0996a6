import type { Context } from "../../context.ts";
import { listInboxVersions, listOutcomeVersions, markOfInboxBehind } from "../store/inbox.ts";
import { nextEndFor } from "../store/snoozes.ts";
import { listFreezes } from "../../policy/store/freezes.ts";
import { INBOX_TOPIC, watch } from "../../core/store/wake.ts";
import { readersFor } from "../read/read-request.ts";

/** Changes within this time are sent together. */
const GATHER_MS = 100;
/** Without a notification the inbox is read again after this long: notifications between nodes may be lost. */
const QUIET_MS = 10_000;
/** Outcomes of approved calls are compared for so long: longer than a look that found nothing. */
const OUTCOMES_WITHIN_MS = 60_000;
/** Changes of this many first open requests are sent with their ids. Changes behind them are sent as null. */
const COMPARED_MOST = 5000;

/**
 * Yields the ids of requests that have come into somebody's inbox, changed in it, or ended, from now on. Null stands
 * for a change further down. It comes first of all, because changes before the follower connected are not compared.
 * These are hints only: the follower then reads the inbox.
 */
export async function* followInbox(
  ctx: Context,
  person: string,
  signal: AbortSignal,
): AsyncGenerator<readonly (string | null)[]> {
  using changes = watch(ctx, [INBOX_TOPIC], [signal, ctx.stopping]);
  let known = await look(ctx, person);
  yield [null];
  while (!signal.aborted && !ctx.stopping.aborted) {
    await changes.next(Math.min(QUIET_MS, known.nextMs));
    await ctx.clock.sleep(GATHER_MS, signal);
    if (signal.aborted || ctx.stopping.aborted) return;
    const now = await look(ctx, person);
    const ids = new Set([...known.versions.keys(), ...now.versions.keys()]);
    const changed: (string | null)[] = [...ids].filter((id) => known.versions.get(id) !== now.versions.get(id));
    changed.push(...[...now.outcomes.keys()].filter((id) => known.outcomes.get(id) !== now.outcomes.get(id)));
    if (known.behind !== now.behind) changed.push(null);
    known = now;
    yield changed;
  }
}

/** An inbox at one moment. */
interface Look {
  /** The versions of the first open requests, also of those that are put aside: they may be on screen. */
  versions: Map<string, string>;
  /** The newest outcomes of approved calls, by request. */
  outcomes: Map<string, string>;
  /** The mark of the freezes in force, of the absences that concern the person, and of all that stand behind the first. */
  behind: string;
  /** In how many milliseconds one that was put aside comes back, or somebody does, which wakes nobody. */
  nextMs: number;
}

async function look(ctx: Context, person: string): Promise<Look> {
  // Read first: a snooze that ends meanwhile then ends the next wait, and is found by it.
  const { ms, absences } = await nextEndFor(ctx.db, person);
  const readers = await readersFor(ctx.db, person);
  const versions = new Map(await listInboxVersions(ctx.db, readers, COMPARED_MOST));
  const isFull = versions.size === COMPARED_MOST;
  const behind = isFull ? await markOfInboxBehind(ctx.db, readers, COMPARED_MOST) : "";
  const freezes = (await listFreezes(ctx.db)).map(({ id }) => id).join();
  const outcomes = new Map(await listOutcomeVersions(ctx.db, readers, OUTCOMES_WITHIN_MS));
  return { versions, outcomes, behind: `${freezes} ${absences} ${behind}`, nextMs: ms ?? Infinity };
}
