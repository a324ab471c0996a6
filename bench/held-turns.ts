/**
 * Loaded before a server (`--import`). It sends the parent process the length of the longest turn of the event loop,
 * and
 * the routes that take a body.
 */
import diagnostics from "node:diagnostics_channel";

interface TableRoute {
  method: string | string[];
  url: string;
  config?: { allowed?: unknown };
}

const WITH_BODY = ["POST", "PUT", "PATCH"];
const routes = new Set<string>();
let longestUs = 0;
let before = used();

/** Processor time of this thread: what else the machine does counts for nothing. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function look(): void {
  const now = used();
  longestUs = Math.max(longestUs, now - before);
  before = now;
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
    process.send?.(longestUs / 1000);
    longestUs = 0;
  }
});
process.channel?.unref();
look();
