import type { Server } from "node:http";
import type { Socket } from "node:net";
import { isLoopback } from "./network.ts";

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

/**
 * Returns what ends the connections on which no request has come yet, such as those a browser opens in advance: a server
 * that closes would wait for them as for busy ones.
 */
export function watchUnused(server: Server): () => void {
  const unused = new Set<Socket>();
  server.on("connection", (socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("request", ({ socket }) => unused.delete(socket));
  return () => {
    for (const socket of unused) socket.destroy();
  };
}

/**
 * Listens at ::1 too, on the port that `server` has at 127.0.0.1, so that `localhost` reaches it whatever it resolves
 * to. False where that address is not to be had: then 127.0.0.1 alone must do.
 */
export async function listenAtIpv6Loopback(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ host: "::1", port }, () => resolve(true));
  });
}
