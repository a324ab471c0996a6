import type { AskId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { claimRun, findRun, finishRun, releaseRun, runTopic, type SharedRun } from "../store/runner-runs.ts";
import { transact } from "../../core/store/transact.ts";
import { watch } from "../../core/store/wake.ts";

/** A run, its wait for a place and some grace: after this whoever had it is gone. */
const CLAIM_MS = 125_000;
const LOOK_EVERY_MS = 1000;

/**
 * Has `run` done once for identical asks that come at one time: the first does it, the others get what it gave, also
 * those that were posted before the first had its answer and come here after its run. Resolves with null where the
 * signal was aborted first (spec/relay 7; spec/invariants P5).
 *
 * The result of `run` must be plain JSON.
 */
export async function shareRun<Outcome>(
  ctx: Pick<Context, "db" | "wake" | "clock">,
  { key, askId, signal }: { key: string; askId: AskId; signal: AbortSignal },
  run: () => Promise<Outcome>,
): Promise<Outcome | null> {
  using waiting = watch(ctx, [runTopic(key)], [signal]);
  let leader: string | null = null;
  while (!signal.aborted) {
    const shared = await findRun(ctx.db, key, askId);
    if (shared && shared.outcome !== null && isFor(shared, askId, leader)) return JSON.parse(shared.outcome) as Outcome;
    const isFree = !shared || shared.outcome !== null || shared.isOver;
    if (isFree && (await claimRun(ctx.db, key, askId, CLAIM_MS))) {
      return lead(ctx, { key, askId, signal }, run);
    }
    leader = isFree ? null : shared.askId;
    if (leader !== null) await waiting.next(LOOK_EVERY_MS);
  }
  return null;
}

/** True where the ask gets what the run gave: it waited for the run, or was beside the ask whose run it was. */
function isFor(run: SharedRun, askId: AskId, leader: string | null): boolean {
  return run.askId === leader || (run.isBeside && !run.isOver && run.askId !== askId);
}

/** Does the run and stores its outcome. A server that stops releases the run, so that another server can do it. */
async function lead<Outcome>(
  ctx: Pick<Context, "db" | "wake">,
  { key, askId, signal }: { key: string; askId: AskId; signal: AbortSignal },
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  let outcome: { kind: Outcome } | null = null;
  try {
    outcome = { kind: await run() };
    return outcome.kind;
  } finally {
    const text = outcome && !signal.aborted ? JSON.stringify(outcome.kind) : null;
    await transact(ctx, (tx) => (text === null ? releaseRun(tx, key, askId) : finishRun(tx, key, askId, text)));
  }
}
