import type { AddressInfo, ListenOptions, Server, Socket } from "node:net";
import { join } from "node:path";
import { openEgressProxy, openLoopbackBridge } from "./egress-proxy.ts";

/** The ways out of a sandbox. */
export interface DoorsOut extends AsyncDisposable {
  /** Ports of 127.0.0.1 in the jail, and the sockets they lead to; none without a jail. */
  bridges: readonly { port: number; socket: string }[];
  /** Environment variables that make programs use the proxy. */
  env: Readonly<Record<string, string>>;
  /** Where the attempt's MCP endpoint is, as programs in the sandbox see it. */
  mcpUrl: string;
  /** Where the agent's model is for it, when its key stays outside. */
  modelUrl: string;
}

interface DoorsOptions {
  isJailed: boolean;
  /** The sandbox's folder; its sockets are in `run`. */
  folder: string;
  egress: readonly string[];
  /** The MCP endpoint; null opens none. */
  mcp: Server | null;
  /** The proxy in place of the agent's model. */
  model: Server | null;
  /** Called with each address that a program in the jail tried to reach and may not. */
  onRefused(place: string): void;
}

const PROXY_PORT = 3128;
const MCP_PORT = 4783;
const MODEL_PORT = 4784;

/**
 * Opens the ways out of a sandbox. In a jail they are a proxy to the named hosts, the MCP endpoint, the model if its
 * key stays outside, and the named ports of this machine, each behind its own socket. Without a jail they are the
 * endpoints on ports of 127.0.0.1.
 */
export async function openDoorsOut({
  isJailed,
  folder,
  egress,
  mcp,
  model,
  onRefused,
}: DoorsOptions): Promise<DoorsOut> {
  const open: Server[] = [];
  const serve = async (server: Server, at: ListenOptions) => {
    await listen(server, at);
    open.push(server);
  };
  const close = async () => {
    await Promise.all(open.map(closeServer));
  };
  if (!isJailed) {
    for (const server of [mcp, model]) if (server) await serve(server, { host: "127.0.0.1", port: 0 });
    const portOf = (server: Server | null) => (server?.address() as AddressInfo | undefined)?.port;
    return { bridges: [], env: {}, ...urlsOf(portOf(mcp), portOf(model)), [Symbol.asyncDispose]: close };
  }

  const named = loopbackPorts(egress);
  const freePort = (port: number): number => (named.includes(port) ? freePort(port + 1) : port);
  const proxyPort = freePort(PROXY_PORT);
  const mcpPort = freePort(MCP_PORT);
  const modelPort = freePort(Math.max(MODEL_PORT, mcpPort + 1));
  const doors = [
    { server: openEgressProxy({ egress, onRefused }), port: proxyPort, socket: "proxy.sock" },
    ...(mcp ? [{ server: mcp, port: mcpPort, socket: "mcp.sock" }] : []),
    ...(model ? [{ server: model, port: modelPort, socket: "model.sock" }] : []),
    ...named.map((port) => ({ server: openLoopbackBridge(port), port, socket: `port-${port}.sock` })),
  ];
  for (const { server, socket } of doors) await serve(server, { path: join(folder, "run", socket) });
  const proxy = `http://127.0.0.1:${proxyPort}`;
  const direct = "127.0.0.1,localhost";
  return {
    bridges: doors.map(({ port, socket }) => ({ port, socket })),
    env: {
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      NO_PROXY: direct,
      http_proxy: proxy,
      https_proxy: proxy,
      no_proxy: direct,
    },
    ...urlsOf(mcpPort, modelPort),
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the ports of this machine that a jail must find at the same address. */
function loopbackPorts(egress: readonly string[]): number[] {
  const ports = egress.map((one) => /^(?:127\.0\.0\.1|localhost):(\d{1,5})$/.exec(one)?.[1]);
  return [...new Set(ports.filter((port) => port !== undefined).map(Number))];
}

function urlsOf(mcp: number | undefined, model: number | undefined): Pick<DoorsOut, "mcpUrl" | "modelUrl"> {
  return { mcpUrl: `http://127.0.0.1:${mcp ?? 0}/mcp`, modelUrl: `http://127.0.0.1:${model ?? 0}` };
}

/** Every connection of a server that was made to listen here; a server itself does not know all of its own. */
const connections = new WeakMap<Server, Set<Socket>>();

/** The server listens. @throws {Error} when the address is not to be had */
export function listen(server: Server, at: ListenOptions): Promise<void> {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** The server has ended, with the connections it had. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of connections.get(server) ?? []) socket.destroy();
  });
}
