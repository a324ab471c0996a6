import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { systemClock } from "../clock.ts";
import { isLoopback } from "./network.ts";

/** How many connections may wait to be taken, as those of everybody who waits do through a restart. */
export const BACKLOG = 4096;
const LOOK_EVERY_MS = 10;

/** Refuses connections beyond `most` of one address; those of this machine are not counted. */
export function limitConnections(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? "";
    if (isLoopback(address)) return;
    const count = (open.get(address) ?? 0) + 1;
    if (count > most) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}

/** The connections of a server, by what may still come on them. */
export interface Connections {
  /**
   * Every reply from now on ends its connection, and says so. Resolves once no client holds a connection for a further
   * request, or after `withinMs`: a connection that is simply closed may carry a request at that very moment.
   */
  endKept(withinMs: number): Promise<void>;
  /** Resolves once a request has come on each connection, or after `withinMs`; those without one are then ended. */
  endUnused(withinMs: number): Promise<void>;
}

/**
 * Watches a server's connections from now on. Replies advise clients to keep an idle connection for `keptMs` at most
 * (`Keep-Alive`, RFC 2068, 19.7.1.1), however long the server would: a proxy without this advice may keep it longer.
 */
export function watchConnections(server: Server, keptMs: number): Connections {
  const advice = `timeout=${Math.floor(keptMs / 1000)}`;
  /** No request has come yet, such as on those that a browser opens in advance. */
  const unused = new Set<Socket>();
  /** A request was answered, and another may come. */
  const kept = new Set<Socket>();
  const replies = new Set<ServerResponse>();
  let ending = false;

  server.on("connection", (socket) => {
    unused.add(socket);
    socket.once("close", () => {
      unused.delete(socket);
      kept.delete(socket);
    });
  });
  // Runs before the listener that answers, which may answer at once.
  server.prependListener("request", ({ socket }, reply) => {
    unused.delete(socket);
    kept.delete(socket);
    replies.add(reply);
    if (ending) reply.shouldKeepAlive = false;
    if (reply.shouldKeepAlive) reply.setHeader("keep-alive", advice);
    reply.once("close", () => {
      replies.delete(reply);
      if (socket.destroyed) return;
      // The headers of a reply that began before the shutdown did not announce that the connection ends.
      if (ending) socket.destroySoon();
      else kept.add(socket);
    });
  });

  return {
    async endKept(withinMs) {
      ending = true;
      for (const reply of replies) {
        if (reply.headersSent) continue;
        reply.shouldKeepAlive = false;
        reply.removeHeader("keep-alive");
      }
      await untilEmpty(kept, withinMs);
    },
    async endUnused(withinMs) {
      await untilEmpty(unused, withinMs);
      for (const socket of unused) socket.destroy();
    },
  };
}

async function untilEmpty(sockets: ReadonlySet<Socket>, withinMs: number): Promise<void> {
  const until = systemClock.monotonic() + withinMs;
  while (sockets.size > 0 && systemClock.monotonic() < until) await systemClock.sleep(LOOK_EVERY_MS);
}

/** Cuts off every connection of the servers after `ms`, unless it is disposed of before. */
export function cutAfter(servers: readonly Server[], ms: number): Disposable {
  const timer = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/**
 * Listens at ::1 too, on the port that another server has at 127.0.0.1, so that `localhost` reaches it whatever it
 * resolves to. False where that address is not to be had: then 127.0.0.1 alone must do.
 */
export async function listenAtIpv6Loopback(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ host: "::1", port, backlog: BACKLOG }, () => resolve(true));
  });
}

/** Returns the error for the operator about an address that cannot be listened at; any other error as it is. */
export function listenSentence(error: unknown, { host, port }: { host: string; port: number }): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  switch (error.code) {
    case "EADDRINUSE":
      return new Error(`Port ${port} on ${host} is taken by another program; stop it, or choose another with --port.`);
    case "EACCES":
      return new Error(`This user may not listen on port ${port}; choose one above 1023 with --port.`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Error(`${host} is not an address of this machine; choose another with --host.`);
    default:
      return error;
  }
}
