import type { InjectOptions } from "fastify";
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
 * Returns a fetch that goes to the server's own routes within the process. The routes see whoever sent `request`: its
 * address, its host, its key and every header of a proxy.
 */
export function ownFetch(app: Door, request: FastifyRequest): typeof globalThis.fetch {
  const passedOn = Object.entries(request.headers).filter(([name]) => !OWN.has(name));
  return async (address, init = {}) => {
    const { pathname, search } = new URL(String(address));
    const { signal, method = "GET", body } = init;
    signal?.throwIfAborted();
    const reply = await app.inject({
      method: method as NonNullable<InjectOptions["method"]>,
      url: pathname + search,
      headers: { ...Object.fromEntries(passedOn), ...(init.headers as Record<string, string>) },
      remoteAddress: request.socket.remoteAddress ?? "",
      ...(typeof body === "string" && { payload: body }),
      ...(signal && { signal }),
    });
    return new Response(new Uint8Array(reply.rawPayload), { status: reply.statusCode });
  };
}
