import {
  createServer,
  request as plainRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as secureRequest } from "node:https";
import { pipeline } from "node:stream";

/** Headers for one connection, which are not passed on. */
const HOP_BY_HOP = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];
/** Headers that a browser sends about itself, and headers that could name another caller than the key does. */
const NOT_PASSED = new Set([...HOP_BY_HOP, "host", "cookie", "origin", "referer", "expect"]);
const OWN_NAME = /^(localhost|[a-z0-9.-]+\.localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/**
 * Returns a server that passes every request on to `to`, as its bytes come, with the key for those that carry none.
 *
 * Programs of this computer alone are served: a page of another site, and whatever came under another name than this
 * computer's own, is refused, because it would act with the key.
 */
export function openForwardingProxy({ to, key }: { to: URL; key: string }): Server {
  return createServer((request, reply) => {
    const refusal = refusalOf(request);
    if (refusal) refuse(reply, refusal.status, refusal.code, refusal.message);
    else pass(request, reply, { to, key });
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

function pass(request: IncomingMessage, reply: ServerResponse, { to, key }: { to: URL; key: string }): void {
  const named = (request.headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const passed = Object.entries(request.headers).filter(([name]) => !NOT_PASSED.has(name) && !named.includes(name));
  const send = to.protocol === "https:" ? secureRequest : plainRequest;
  const upstream = send({
    protocol: to.protocol,
    hostname: to.hostname.replace(/^\[|\]$/g, ""),
    port: to.port,
    method: request.method,
    path: to.pathname.replace(/\/+$/, "") + (request.url ?? "/"),
    headers: { authorization: `Bearer ${key}`, ...Object.fromEntries(passed) },
  });
  upstream.on("response", (answer) => {
    const kept = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.includes(name));
    reply.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
    reply.flushHeaders();
    pipeline(answer, reply, () => {});
  });
  upstream.on("error", () => {
    if (reply.headersSent) reply.destroy();
    else refuse(reply, 502, "UNREACHABLE", "The server behind this address cannot be reached.");
  });
  reply.on("close", () => upstream.destroy());
  pipeline(request, upstream, () => {});
}

function refuse(reply: ServerResponse, status: number, code: string, message: string): void {
  reply.writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
  reply.end(JSON.stringify({ error: { code, message } }));
}
