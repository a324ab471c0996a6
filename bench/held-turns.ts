/**
 * Loaded before a server (`--import`). It sends the parent process the length of the longest turn of the event loop,
 * with and without the collection of garbage in it, and the routes that take a body.
 */
import diagnostics from "node:diagnostics_channel";
import { PerformanceObserver } from "node:perf_hooks";

interface TableRoute {
  method: string | string[];
  url: string;
  config?: { allowed?: unknown };
}

/** Shorter turns are none of those looked for. */
const LEAST_US = 500;
const WITH_BODY = ["POST", "PUT", "PATCH"];
const routes = new Set<string>();
/** Newest turns that are long, and collections: the latter are reported a turn later. */
let turns: { from: number; to: number; us: number }[] = [];
let collections: { from: number; to: number }[] = [];
let before = used();
let from = performance.now();

new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    collections.push({ from: startTime, to: startTime + duration });
  }
}).observe({ entryTypes: ["gc"] });

/** Processor time of this thread: what else the machine does counts for nothing. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** In milliseconds. A collection is timed by the clock, so a busy machine makes a turn without it look shorter. */
function longest(): { turn: number; own: number } {
  const collected = (turn: { from: number; to: number }): number =>
    collections.reduce((ms, one) => ms + Math.max(0, Math.min(one.to, turn.to) - Math.max(one.from, turn.from)), 0);
  return {
    turn: Math.max(0, ...turns.map(({ us }) => us / 1000)),
    own: Math.max(0, ...turns.map((turn) => turn.us / 1000 - collected(turn))),
  };
}

function look(): void {
  const now = used();
  const to = performance.now();
  if (now - before > LEAST_US) turns.push({ from, to, us: now - before });
  [before, from] = [now, to];
  setImmediate(look).unref();
}

diagnostics.subscribe("fastify.initialization", (message) => {
  const { fastify } = message as { fastify: { addHook(name: "onRoute", hook: (route: TableRoute) => void): void } };
  fastify.addHook("onRoute", ({ method, url, config }) => {
    // Routes that only answer methods which an address does not take are left out.
    if (config?.allowed) return;
    for (const one of [method].flat()) if (WITH_BODY.includes(one)) routes.add(`${one} ${url}`);
  });
});

process.on("message", (what) => {
  if (what === "routes") process.send?.([...routes]);
  else {
    // Collections of the last turn are still to be reported.
    setTimeout(() => {
      process.send?.(longest());
      [turns, collections] = [[], []];
    }, 5);
  }
});
process.channel?.unref();
look();
