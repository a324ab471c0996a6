import type { Context } from "../../context.ts";
import { base62 } from "../../lib/id.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { URGENT_AFTER_MS } from "../model/job-rules.ts";
import type { Job } from "../model/ask.ts";
import { insertClaim } from "../store/job-claims.ts";
import { appendJobEvents, claimJob, hasClaimable } from "../store/jobs.ts";
import { transact } from "../../core/store/transact.ts";
import { CLAIMS_TOPIC, watch } from "../../core/store/wake.ts";
import { moveNote, statusOf } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";

/** The claimant, the kinds of jobs it takes, and the length of its lease. */
export interface ClaimInput {
  kinds: readonly string[];
  holder: string;
  /** The name that the holder gives to its process. */
  worker: string;
  leaseS: number;
}

export interface Claimed {
  job: Job;
  /** The token is returned this once; its SHA-256 is stored. */
  lease: { token: string; epoch: number; ttlS: number; expiresAt: number };
}

/** 190 bits. */
const TOKEN_LENGTH = 32;

/**
 * Gives the job that is next in line to whoever asks for one: by priority, then the oldest; one that has waited for ten
 * minutes counts as urgent. Waits for one until `waitMs` are over, or a signal is aborted; returns nothing then.
 *
 * Nobody else may write in the job's name until the lease has run out (spec/relay 2).
 */
export async function claimJobFor(
  ctx: Context,
  input: ClaimInput,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<Claimed | undefined> {
  using changes = watch(ctx, [CLAIMS_TOPIC], [ctx.stopping, signal]);
  const until = ctx.clock.monotonic() + waitMs;
  for (;;) {
    if (signal.aborted) return undefined;
    const claimed = await claimOnce(ctx, input);
    if (claimed) return claimed;
    // A rival took the one that was found; there may be others.
    if (await hasClaimable(ctx.db, input.kinds, input.holder)) continue;
    const leftMs = until - ctx.clock.monotonic();
    if (leftMs <= 0 || ctx.stopping.aborted) return undefined;
    await changes.next(leftMs);
  }
}

async function claimOnce(ctx: Context, { kinds, holder, worker, leaseS }: ClaimInput): Promise<Claimed | undefined> {
  const token = `lease_${base62(ctx.random, TOKEN_LENGTH)}`;
  return transact(ctx, async (tx) => {
    const held = await claimJob(tx, {
      kinds,
      holder,
      leaseHash: sha256Hex(token),
      leaseMs: leaseS * 1000,
      urgentAfterMs: URGENT_AFTER_MS,
    });
    if (!held) return undefined;
    const { id, epoch, leaseUntil } = held.job;
    await insertClaim(tx, { jobId: id, epoch, holder, worker });
    // point: job-claimed
    const status = statusOf(held, "QUEUED");
    await appendJobEvents(tx, held, [{ ...status, body: { ...status.body, worker_id: worker } }]);
    await writeNotes(tx, [moveNote(held, "QUEUED", { kind: "agent", id: holder })]);
    return { job: held.job, lease: { token, epoch, ttlS: leaseS, expiresAt: leaseUntil ?? held.now } };
  });
}
