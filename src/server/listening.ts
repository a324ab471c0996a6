import type { FastifyInstance } from "fastify";
import { createServer, type Server } from "node:http";
import { Server as NetServer, type AddressInfo, type Socket } from "node:net";
import type { Context } from "../context.ts";
import type { InheritedSocket } from "../lib/network/inherited-sockets.ts";
import {
  BACKLOG,
  cutAfter,
  limitConnections,
  listenAtIpv6Loopback,
  watchConnections,
  type Connections,
} from "../lib/network/listen.ts";
import { refuseConnection } from "../protocols/http/errors.ts";

/** Slow headers are really cut only because connections are looked at every second. */
export const HTTP_LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
  // The guards refuse what names no host, in the shape of every other refusal.
  requireHostHeader: false,
} as const;
const SOCKETS_PER_ADDRESS = 1000;
/** Requests that are still under way after this time are cut off, so that a stop ends in time. */
const CLOSE_WITHIN_MS = 8000;
/**
 * How long clients are asked to keep a connection without a request, in ms. It is longer than the three seconds after
 * which a `humanlayer` client asks again. It is shorter than a stop waits, since a request that is sent at the moment
 * in which a connection is closed is lost.
 */
const KEEP_FOR_MS = 5000;
/** A stop waits for so long until clients have let go of their connections, or have asked once more. */
const KEPT_WITHIN_MS = 6000;
/**
 * New connections without a request are closed after this time. Clients send one at once, but for browsers that connect
 * in advance.
 */
const UNUSED_WITHIN_MS = 2000;

/** The sockets at which a server listens, and the connections on them. */
export interface Listening {
  url: string;
  /** Every address at which it listens. */
  addresses(): AddressInfo[];
  /** The sockets, for a process that is to listen at them too. */
  descriptors(): number[];
  /**
   * Ends the connection of every reply from now on. Where another process holds the sockets open and `handsOver` is
   * true, no further connection is taken and no request is lost by it: a client that holds a connection gets one more
   * request answered on it, and a client that comes meanwhile waits to be taken.
   */
  leave(how: { handsOver: boolean }): Promise<void>;
  /** No connection is left; what does not end by itself is cut off. */
  close(): Promise<void>;
}

/** Where to listen: at the inherited sockets, where there are any. */
export interface ListenOptions {
  host: string;
  port: number;
  inherited: readonly InheritedSocket[];
}

/**
 * Listens for `app`, and for 127.0.0.1 at ::1 too, where this machine has that address.
 *
 * @throws {Error} one sentence for the operator
 */
export async function openListening(app: FastifyInstance, ctx: Context, place: ListenOptions): Promise<Listening> {
  const { port, inherited } = place;
  const host = place.host === "localhost" ? "127.0.0.1" : place.host;
  const servers: Server[] = [];
  const watched: Connections[] = [];
  const open = async (server: Server, listen: () => Promise<unknown>): Promise<void> => {
    limitConnections(server, SOCKETS_PER_ADDRESS);
    const connections = watchConnections(server, KEEP_FOR_MS);
    if ((await listen()) === false) return;
    servers.push(server);
    watched.push(connections);
  };
  const [first, ...more] = inherited;
  if (first) {
    await open(app.server, () => listenAt(app.server, first));
    for (const one of more) {
      const twin = openTwin(app, ctx);
      await open(twin, () => listenAt(twin, one));
    }
  } else {
    await open(app.server, () => app.listen({ host, port, backlog: BACKLOG }));
    const twin = openTwin(app, ctx);
    if (host === "127.0.0.1") await open(twin, () => listenAtIpv6Loopback(twin, addressOf(app.server).port));
  }
  let handedOver = false;

  return {
    url: urlOf(app, place),
    addresses: () => servers.map(addressOf),
    descriptors: () => servers.map(descriptorOf),
    async leave({ handsOver }) {
      await Promise.all(watched.map((connections) => connections.endKept(handsOver ? KEPT_WITHIN_MS : 0)));
      if (!handsOver) return;
      handedOver = true;
      // An HTTP server's own way to close ends the connections between two requests as well.
      for (const server of servers) NetServer.prototype.close.call(server);
    },
    async close() {
      using _cut = cutAfter(servers, CLOSE_WITHIN_MS);
      const twinsClosed = servers.slice(1).map((twin) => new Promise((resolve) => twin.close(resolve)));
      await Promise.all(watched.map((connections) => connections.endUnused(handedOver ? UNUSED_WITHIN_MS : 0)));
      await app.close();
      await Promise.all(twinsClosed);
    },
  };
}

/** Where `app` is reached; known once it listens. */
export function urlOf(app: FastifyInstance, config: { host: string }): string {
  const { port } = addressOf(app.server);
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return `http://${host === "0.0.0.0" || host === "[::]" ? "127.0.0.1" : host}:${port}`;
}

const addressOf = (server: Server) => server.address() as AddressInfo;

/** Node passes sockets to the processes it starts, but says nowhere else which descriptor one has. */
function descriptorOf(server: Server): number {
  const { _handle: handle } = server as Server & { _handle?: { fd: number } | null };
  if (!handle) throw new Error("the server listens no more");
  return handle.fd;
}

/** The same server at one more address. */
function openTwin(app: FastifyInstance, ctx: Context): Server {
  const twin = createServer(HTTP_LIMITS, (http, response) => app.routing(http, response));
  twin.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuseConnection(ctx, error, socket));
  return twin;
}

async function listenAt(server: Server, { socket, address, port }: InheritedSocket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) =>
      reject(new Error(`The socket at ${address}, port ${port}, that was passed cannot be listened at (${code}).`)),
    );
    server.listen(socket, BACKLOG, () => resolve());
  });
}
