import { setTimeout as sleep } from "node:timers/promises";

/** One timed stretch of load. */
export interface Sample {
  /** Completed requests a second. */
  perSecond: number;
  latenciesMs: number[];
}

/** One request of one client. Returns its latency in ms where that is not the time the call took. */
export type Step = (client: number) => Promise<number | void>;

/**
 * Keeps `clients` requests under way for `ms`, each client sending its next when its last is answered, after a warm-up
 * that is not counted. A request counts where its reply comes within `ms`, whenever it was sent: else those under way at
 * either end would be missing from the rate of a slow server.
 */
export async function runClosed(clients: number, times: { warmMs: number; ms: number }, step: Step): Promise<Sample> {
  const from = performance.now() + times.warmMs;
  const until = from + times.ms;
  const latenciesMs: number[] = [];

  async function runClient(client: number): Promise<void> {
    for (;;) {
      const sent = performance.now();
      if (sent >= until) return;
      const told = await step(client);
      const done = performance.now();
      if (done >= from && done <= until) latenciesMs.push(told ?? done - sent);
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)));
  return { perSecond: latenciesMs.length / (times.ms / 1000), latenciesMs };
}

/**
 * Sends `perSecond` requests at fixed moments, however slowly they are answered, on up to `clients` connections.
 *
 * A latency counts from the moment a request was due, not from when a free connection was found: a server that stalls
 * is charged for everything that should have been sent meanwhile.
 */
export async function runPaced(
  clients: number,
  times: { warmMs: number; ms: number; perSecond: number },
  step: Step,
): Promise<Sample> {
  const start = performance.now();
  const total = Math.floor(((times.warmMs + times.ms) / 1000) * times.perSecond);
  const dueAt = (i: number) => start + (i * 1000) / times.perSecond;
  const free = Array.from({ length: clients }, (_, client) => client);
  const latenciesMs: number[] = [];
  const running = new Set<Promise<void>>();
  let next = 0;

  async function send(client: number, due: number): Promise<void> {
    await step(client);
    free.push(client);
    if (due >= start + times.warmMs) latenciesMs.push(performance.now() - due);
  }
  while (next < total) {
    while (next < total && free.length > 0 && dueAt(next) <= performance.now()) {
      const sending = send(free.pop() as number, dueAt(next));
      next += 1;
      running.add(sending);
      void sending.finally(() => running.delete(sending)).catch(() => undefined);
    }
    await sleep(1);
  }
  await Promise.all(running);
  const lastedMs = Math.max(times.ms, performance.now() - start - times.warmMs);
  return { perSecond: latenciesMs.length / (lastedMs / 1000), latenciesMs };
}

/** Returns the value below which a share `p` of the values lie. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
