import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { passedHeaders, passOn, pathBelow } from "./pass-on.ts";

/** Headers that a browser sends about itself, and headers that could name another caller than the key does. */
const NOT_PASSED = ["host", "cookie", "origin", "referer", "expect"];
/** Headers that say where a body ends: a request cannot have them taken away. */
const FRAMING = ["content-length", "transfer-encoding"];
const OWN_NAME = /^(localhost|[a-z0-9.-]+\.localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Returns a server that passes every request on to `to`, as its bytes come, with the key for those that carry none.
 *
 * Programs of this computer alone are served: a page of another site, and whatever came under another name than this
 * computer's own, is refused, because it would act with the key.
 */
export function openForwardingProxy({ to, key }: { to: URL; key: string }): Server {
  return createServer((http, reply) => {
    const refusal = refusalOf(http);
    if (refusal) refuse(reply, refusal.status, refusal.code, refusal.message);
    else pass(http, reply, { to, key });
  });
}

function refusalOf({ headers, url }: IncomingMessage): { status: number; code: string; message: string } | null {
  const host = headers.host ?? "";
  if (!OWN_NAME.test(host) || !url?.startsWith("/")) {
    return { status: 421, code: "MISDIRECTED", message: "This address serves programs of this computer only." };
  }
  const { origin } = headers;
  const site = headers["sec-fetch-site"] ?? "none";
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
  if (isOwn && (site === "none" || site === "same-origin")) return null;
  return { status: 403, code: "ORIGIN_REFUSED", message: "Pages of other sites are not served." };
}

function pass(http: IncomingMessage, reply: ServerResponse, { to, key }: { to: URL; key: string }): void {
  const named = (http.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const dropped = [...NOT_PASSED, ...named.filter((name) => !FRAMING.includes(name))];
  passOn(http, reply, {
    to,
    path: pathBelow(to, http),
    headers: { authorization: `Bearer ${key}`, ...passedHeaders(http.headers, dropped) },
    onUnreachable: () => refuse(reply, 502, "UNREACHABLE", "The server behind this address cannot be reached."),
  });
}

function refuse(reply: ServerResponse, status: number, code: string, message: string): void {
  reply.writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
  reply.end(JSON.stringify({ error: { code, message } }));
}
