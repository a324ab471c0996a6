import type { InjectOptions } from "fastify";
import type { HttpExchange } from "../../lib/network/exchange.ts";
import type { Door, FastifyRequest } from "../http/door.ts";

/** The headers that are of one body or one connection, or that make a program a browser. */
const OWN = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "idempotency-key",
  "if-none-match",
  "keep-alive",
  "range",
  "transfer-encoding",
  "upgrade",
  "x-idempotency-key",
]);

/**
 * Returns an exchange that goes to the server's own routes within the process. The routes see whoever sent `request`: its
 * address, its host, its key and every header of a proxy.
 */
export function ownExchange(app: Door, request: FastifyRequest): HttpExchange {
  const passedOn = Object.entries(request.headers).filter(([name]) => !OWN.has(name));
  return async (address, { method, headers, body, signal }) => {
    const { pathname, search } = new URL(address);
    signal.throwIfAborted();
    const reply = await app.inject({
      method: method as NonNullable<InjectOptions["method"]>,
      url: pathname + search,
      headers: { ...Object.fromEntries(passedOn), ...headers },
      remoteAddress: request.socket.remoteAddress ?? "",
      ...(body !== undefined && { payload: body }),
      signal,
    });
    return { status: reply.statusCode, bytes: new Uint8Array(reply.rawPayload) };
  };
}
