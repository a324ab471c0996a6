import {
  request as plainRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { request as secureRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { pipeline } from "node:stream";

/** Headers for one connection, which are not passed on. */
const HOP_BY_HOP = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade"];

/** Where a proxy sends a request. */
export interface Onward {
  /** Its protocol, host and port count. */
  to: URL;
  /** Path and query, as they are sent. */
  path: string;
  headers: OutgoingHttpHeaders;
  /** Resolves the host for this request alone, which then has a connection of its own. */
  lookup?: LookupFunction;
  /** Sends the reply of a server that cannot be reached. */
  onUnreachable(): void;
}

/**
 * Returns the headers of a request that a proxy passes on: all but those for one connection, and those in `without`.
 * The encoding of the transfer stays, because without it Node sends the body of a DELETE with no mark of its end.
 */
export function passedHeaders(headers: IncomingHttpHeaders, without: readonly string[]): OutgoingHttpHeaders {
  const left = new Set([...HOP_BY_HOP, ...without]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !left.has(name)));
}

/** Sends a request on and its reply back, as their bytes come. A reply that breaks off is cut off. */
export function passOn(http: IncomingMessage, reply: ServerResponse, onward: Onward): void {
  const { to, path, headers, lookup } = onward;
  const send = to.protocol === "https:" ? secureRequest : plainRequest;
  const upstream = send({
    protocol: to.protocol,
    hostname: to.hostname.replace(/^\[|\]$/g, ""),
    port: to.port,
    method: http.method,
    path,
    headers,
    ...(lookup && { lookup, agent: false }),
  });
  upstream.on("response", (answer) => {
    reply.writeHead(answer.statusCode ?? 502, passedHeaders(answer.headers, ["transfer-encoding"]));
    reply.flushHeaders();
    pipeline(answer, reply, () => {});
  });
  upstream.on("error", () => {
    if (reply.headersSent) reply.destroy();
    else onward.onUnreachable();
  });
  reply.on("close", () => upstream.destroy());
  pipeline(http, upstream, () => {});
}

/** Returns the path of a request below an address. */
export function pathBelow(to: URL, { url = "/" }: IncomingMessage): string {
  return to.pathname.replace(/(?<!\/)\/+$/, "") + url;
}
