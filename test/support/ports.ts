/**
 * Ports for programs that need theirs as an argument. A program that can listen on 0 and report its port does so
 * instead.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const LOWEST = 10_000;
const ADDRESS = "127.0.0.1";
/** Where Linux begins to hand out ports by itself, to connections and to who listens on 0; other systems begin later. */
const USUAL_END = 32_768;

/**
 * Returns a TCP port of 127.0.0.1 on which nobody listens, and which no other test is given until this process ends: it
 * can be listened on, left and listened on again.
 *
 * It lies below the ports that the system hands out by itself, so that no program gets it by chance. A UDP socket on
 * the
 * same number keeps other test processes from it. The system closes that socket however this process ends.
 *
 * @throws {Error} when every port is taken
 */
export async function reservePort(): Promise<number> {
  const count = endOfPorts() - LOWEST;
  const first = Math.floor(Math.random() * count);
  for (let i = 0; i < count; i += 1) {
    const port = LOWEST + ((first + i) % count);
    if ((await claim(port)) && (await isFree(port))) return port;
  }
  throw new Error("no port is free");
}

function endOfPorts(): number {
  try {
    const [lowest] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s/);
    return Math.max(Math.min(Number(lowest), USUAL_END), LOWEST + 1000);
  } catch {
    return USUAL_END;
  }
}

async function claim(port: number): Promise<boolean> {
  const socket = createSocket("udp4").unref();
  try {
    socket.bind({ port, address: ADDRESS, exclusive: true });
    await once(socket, "listening");
    return true;
  } catch {
    socket.close();
    return false;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, ADDRESS), "listening");
  } catch {
    return false;
  }
  await once(server.close(), "close");
  return true;
}
