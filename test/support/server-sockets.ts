import diagnostics from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { until } from "./contract.ts";

/** The other ends of connections to servers of this process, by the port from which each was opened. */
const accepted = new Map<number, Socket>();
diagnostics.subscribe("net.server.socket", (message) => {
  const { socket } = message as { socket: Socket };
  const { remotePort } = socket;
  if (remotePort === undefined) return;
  accepted.set(remotePort, socket);
  socket.once("close", () => accepted.delete(remotePort));
});

/** Resolves when a server of this process has read everything that was written to this connection of it. */
export async function allRead(socket: Socket): Promise<void> {
  await until(async () => {
    const other = socket.localPort === undefined ? undefined : accepted.get(socket.localPort);
    return other !== undefined && other.bytesRead >= socket.bytesWritten;
  });
}
