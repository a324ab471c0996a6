import { DeliveryError } from "../../channels/channel.ts";
import type { Context } from "../../context.ts";
import { pauseBeforeRetry, type Retries } from "../../lib/back-off.ts";
import { startLoop, type Loop } from "../../lib/loop.ts";
import { watch } from "../store/wake.ts";
import { loopErrors } from "./errors.ts";

/** A claimed row is a rival's again after this; sending one takes less. */
export const LEASE_MS = 60_000;

/** A row that this server has claimed. */
interface Claimed {
  /** Counts from 1. */
  attempt: number;
  /** The fields that name it in the log. */
  log: Readonly<Record<string, string>>;
}

/** A kind of row that is sent when it is due. */
export interface Outbox<Due, Row extends Claimed> {
  /** The name of its loop in the log. */
  name: string;
  /** Wakes the loop at once; the pause is for rows that fall due, and for wake-ups that were lost. */
  topic?: string;
  /** The pause after a look that found nothing. */
  idleMs: number;
  retries: Retries;
  /** Returns rows that are due, at most as many as may be sent at one time. */
  findDue(): Promise<Due[]>;
  /**
   * Takes a due row from rivals for `leaseMs`. Returns nothing when a rival was first, or when the row needs no sending
   * any more or not yet, which is then stored.
   */
  claim(due: Due, leaseMs: number): Promise<Row | undefined>;
  /**
   * Sends a row, in less time than its lease, and stores that it was sent.
   *
   * @throws {DeliveryError} any other error is logged, and counts as one after which it is sent again
   */
  send(row: Row, signal: AbortSignal): Promise<void>;
  /** Stores that sending failed: it is sent again in `inMs`, or, where that is null, given up. */
  failed(row: Row, error: DeliveryError, inMs: number | null): Promise<void>;
}

type Surroundings = Pick<Context, "clock" | "log" | "random" | "wake">;

/**
 * Sends rows when they are due, until stopped. Each is claimed first, so that no other server sends it. A crash, or a stop
 * while it is sent, leaves it to the end of its lease. An error of one row is logged and delays no other row.
 */
export function startOutbox<Due, Row extends Claimed>(ctx: Surroundings, outbox: Outbox<Due, Row>): Loop {
  const { name, topic, idleMs } = outbox;
  const onError = loopErrors(ctx, name);

  async function step(signal: AbortSignal): Promise<boolean> {
    const due = await outbox.findDue();
    const ends = await Promise.allSettled(due.map((one) => sendDue(ctx, outbox, one, signal)));
    const errors = ends.filter((end) => end.status === "rejected");
    if (!signal.aborted) for (const { reason } of errors) onError(reason);
    // A row that failed may be due still: it waits for the pause.
    return due.length > 0 && errors.length === 0;
  }

  return startLoop(step, {
    clock: ctx.clock,
    idleMs,
    onError,
    ...(topic !== undefined && { openPause: (stopping) => watch(ctx, [topic], [stopping]) }),
  });
}

async function sendDue<Due, Row extends Claimed>(
  ctx: Surroundings,
  outbox: Outbox<Due, Row>,
  due: Due,
  signal: AbortSignal,
): Promise<void> {
  const row = signal.aborted ? undefined : await outbox.claim(due, LEASE_MS);
  if (!row) return;
  try {
    await outbox.send(row, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof DeliveryError)) ctx.log.error({ err: error, ...row.log }, "a channel failed");
    const failure = error instanceof DeliveryError ? error : new DeliveryError("failed", { retry: true, cause: error });
    const more = { luck: (ctx.random(1)[0] ?? 0) / 255, askedMs: failure.retryAfterMs ?? 0 };
    await outbox.failed(row, failure, failure.retry ? pauseBeforeRetry(outbox.retries, row.attempt, more) : null);
  }
}
