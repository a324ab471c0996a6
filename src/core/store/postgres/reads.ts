import { WAIT_OVER } from "../../../lib/abort-hub.ts";
import type { Clock } from "../../../lib/clock.ts";
import { yieldToEventLoop } from "../../../lib/event-loop.ts";
import type { Sql } from "../sql.ts";
import { isPlanStale, isUnheard } from "./errors.ts";
import { type BatchResult, sendTogether } from "./statement-batch.ts";
import type { Lent } from "./transaction.ts";

const BATCH_SIZE = 128;
/** A batch that takes longer, in ms, is waited for no more: the next one takes another connection. */
const SLOW_MS = 100;
/** A statement that was once done within so many ms keeps nobody waiting in a batch. */
const QUICK_MS = 10;
/** For so long, in ms, a statement counts as quick: tables grow. */
const QUICK_FOR_MS = 60_000;

export interface ReadOptions {
  clock: Clock;
  /** Lends a connection for one batch, whose time counts from `sinceMs` (`monotonic` of the clock). */
  lend<T>(use: (lent: Lent) => Promise<T>, sinceMs: number): Promise<T>;
}

interface Read {
  statement: Sql;
  cameMs: number;
  resolve: (rows: object[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns what runs reads outside of transactions. Quick ones that are asked for in one turn share a packet to the
 * database and one back; others have a connection to themselves. One that fails takes no other with it.
 */
export function openReads({ clock, lend }: ReadOptions): (statement: Sql) => Promise<object[]> {
  let quick = new Set<string>();
  let quickSinceMs = clock.monotonic();
  const waiting: Read[] = [];
  let isUnderWay = false;
  /** When the last batch got done: the time that reads wait for others counts only while none does. */
  let progressMs = -Infinity;

  /** Runs one batch at a time; the reads that are asked for meanwhile make the next one. */
  async function runBatches(): Promise<void> {
    isUnderWay = true;
    await yieldToEventLoop();
    while (waiting.length > 0) {
      const over = new AbortController();
      void run(waiting.splice(0, BATCH_SIZE)).finally(() => over.abort(WAIT_OVER));
      await clock.sleep(SLOW_MS, over.signal);
    }
    isUnderWay = false;
  }

  async function run(reads: readonly Read[]): Promise<void> {
    let rest = reads;
    while (rest.length > 0) {
      try {
        const sinceMs = Math.max(progressMs, Math.min(...rest.map(({ cameMs }) => cameMs)));
        rest = await lend((lent) => runBatch(lent, rest), sinceMs);
        progressMs = clock.monotonic();
      } catch (error) {
        for (const { reject } of rest) reject(error);
        return;
      }
    }
  }

  /** Runs reads in one batch. Returns those that one before them kept from running. */
  async function runBatch(lent: Lent, reads: readonly Read[]): Promise<readonly Read[]> {
    const sinceMs = clock.monotonic();
    const { results, error } = await sendReads(lent, reads);
    const isQuick = clock.monotonic() - sinceMs < QUICK_MS;
    reads.slice(0, results.length).forEach(({ statement, resolve }, i) => {
      if (isQuick) quick.add(statement.text);
      resolve(results[i]?.rows ?? []);
    });
    if (!error) return [];
    // It is nobody's own error, and the connection is no good.
    if (isUnheard(error)) throw error;
    const failed = reads[results.length];
    failed?.reject(error);
    return reads.slice(results.length + 1);
  }

  return (statement) =>
    new Promise((resolve, reject) => {
      const cameMs = clock.monotonic();
      const read = { statement, cameMs, resolve, reject };
      if (cameMs - quickSinceMs > QUICK_FOR_MS) {
        quick = new Set();
        quickSinceMs = cameMs;
      }
      if (!quick.has(statement.text)) return void run([read]);
      waiting.push(read);
      if (!isUnderWay) void runBatches();
    });
}

/** Sends reads together. Those that older plans than the schema keep from running are sent once more, for new plans. */
async function sendReads({ client, left, limits }: Lent, reads: readonly Read[]): Promise<BatchResult> {
  const statements = reads.map(({ statement }) => statement);
  const sent = await sendTogether(client, statements, left(), limits);
  if (!isPlanStale(sent.error)) return sent;
  const { results, error } = await sendTogether(client, statements.slice(sent.results.length), left(), limits);
  return { results: [...sent.results, ...results], ...(error && { error }) };
}
