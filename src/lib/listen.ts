import type { Server } from "node:http";
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
 * Listens at ::1 too, on the port that `server` has at 127.0.0.1, so that `localhost` reaches it whatever it resolves
 * to. False where that address is not to be had: then 127.0.0.1 alone must do.
 */
export async function listenAtIpv6Loopback(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen({ host: "::1", port }, () => resolve(true));
  });
}
