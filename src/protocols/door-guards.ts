import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../lib/clock.ts";
import { isLoopback } from "../lib/network.ts";
import { openTokenBuckets } from "../lib/token-bucket.ts";
import { Refusal } from "../refusals.ts";
import { LimitRefusal } from "../verbs/limits.ts";
import type { DoorSettings } from "./door.ts";
import { BODY_LIMIT_BYTES } from "./door-errors.ts";

const CORS_METHODS = "GET, POST, PUT, DELETE, OPTIONS";
const REQUEST_HEADERS =
  "Content-Type, Authorization, X-Agent-Id, X-Fingerprint, X-Participant-Token, X-Time-Zone, X-Idempotency-Key, Idempotency-Key, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id";
const EXPOSED_HEADERS =
  "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotency-Replayed, X-Participant-Token, Location, WWW-Authenticate, X-Request-Id";
const PREFLIGHT_MAX_AGE_S = 3600;
const EDGE_WINDOW_MS = 1000;

/**
 * Puts the guards before every route, in the contract's order: host, edge, path and method, origin, body
 * (contract-ask-a-human.md, section 1.1). Credentials follow in each door.
 */
export function installGuards(
  app: FastifyInstance,
  { config, clock, stopping }: { config: DoorSettings; clock: Clock; stopping: AbortSignal },
): void {
  const hosts = allowedHosts(config);
  const edge = openEdgeGuard(config, clock);

  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    // Before anything is refused: a page must be able to read a refusal too.
    const origin = request.headers.origin;
    const { cors: own } = request.routeOptions.config;
    const origins = own ?? config.cors.origins;
    const listed = origin !== undefined && origins.includes(origin);
    if (origins.length > 0) reply.header("vary", "Origin");
    if (listed) {
      reply.header("access-control-allow-origin", origin).header("access-control-expose-headers", EXPOSED_HEADERS);
    }

    refuseForeignHost(request, hosts);
    const { allowed, alwaysAnswers } = request.routeOptions.config;
    if (!alwaysAnswers && !(config.loopbackOnly && isLoopback(request.ip))) edge(request.ip);
    if (!alwaysAnswers && stopping.aborted) throw new Refusal("store_unavailable");
    if (request.is404) throw new Refusal("route_not_found");
    if (allowed) {
      if (listed && isPreflight(request)) return void preflight(reply);
      throw new Refusal("method_not_allowed", { allowed });
    }
    const { takesBody, maxBodyBytes = BODY_LIMIT_BYTES, originless } = request.routeOptions.config;
    const mayComeFrom = listed || (originless && origin === "null");
    const isGuarded = own !== undefined || isUnsafe(request.method);
    if (origin !== undefined && !mayComeFrom && isGuarded && !isSameOrigin(request, config, origin)) {
      throw new Refusal("origin_refused");
    }
    if (takesBody) refuseOddBody(request, maxBodyBytes);
    done();
  });
}

/** Ends each connection with its reply once the server stops, which else would wait for it. */
export function closeWhenStopping(app: FastifyInstance, stopping: AbortSignal): void {
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (stopping.aborted) reply.header("connection", "close");
    done(null, payload);
  });
}

/** Collects which methods each path takes, so that a door answers the others in its own words. */
export function noteRoutes(app: FastifyInstance): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>();
  app.addHook("onRoute", (route) => {
    if (route.config?.allowed) return;
    const methods = taken.get(route.url) ?? new Set();
    for (const method of [route.method].flat()) methods.add(method);
    taken.set(route.url, methods);
  });
  return taken;
}

/** Answers every method that the known paths do not take; call it after a door's routes are in place. */
export function refuseOtherMethods(app: FastifyInstance, taken: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  for (const [url, methods] of taken) {
    const allowed = [...methods].sort();
    const others = app.supportedMethods.filter((method) => !methods.has(method));
    if (others.length === 0) continue;
    app.route({
      method: others,
      url,
      config: { allowed: allowed.filter((method) => method !== "HEAD") },
      schema: { hide: true },
      handler: () => {
        throw new Error("the guards let a wrong method through");
      },
    });
  }
}

/** The host names that are answered: loopback ones, `*.localhost`, the public URL's, and configured ones. */
function allowedHosts(config: DoorSettings): (host: string) => boolean {
  const names = new Set(["localhost", "127.0.0.1", "[::1]", new URL(config.publicUrl).hostname, ...config.hosts]);
  return (host) => names.has(host) || host.endsWith(".localhost");
}

function refuseForeignHost(request: FastifyRequest, allowed: (host: string) => boolean): void {
  const given = request.headers.host ?? "";
  const name = /^(\[[0-9a-f:.]+\]|[^:/@\s]+)(:\d+)?$/i.exec(given)?.[1]?.toLowerCase();
  if (name === undefined || !allowed(name)) throw new Refusal("misdirected", { host: given.slice(0, 255) });
}

function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

function isSameOrigin(request: FastifyRequest, config: DoorSettings, origin: string): boolean {
  if (origin === config.publicUrl) return true;
  // A page of ours that was opened under another accepted name, such as localhost.
  return URL.canParse(origin) && new URL(origin).host === request.headers.host && /^https?:/.test(origin);
}

function isPreflight(request: FastifyRequest): boolean {
  return request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
}

function preflight(reply: FastifyReply): FastifyReply {
  return reply
    .header("access-control-allow-methods", CORS_METHODS)
    .header("access-control-allow-headers", REQUEST_HEADERS)
    .header("access-control-max-age", PREFLIGHT_MAX_AGE_S)
    .code(204)
    .send();
}

const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.-]+\+json)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

function refuseOddBody(request: FastifyRequest, maxBytes: number): void {
  const length = Number(request.headers["content-length"] ?? 0);
  if (length > maxBytes) throw new Refusal("body_too_large", { max_bytes: maxBytes });
  const present = length > 0 || request.headers["transfer-encoding"] !== undefined;
  if (!present) return;
  const encoding = request.headers["content-encoding"];
  const type = request.headers["content-type"] ?? "";
  if ((encoding !== undefined && encoding !== "identity") || !JSON_TYPE.test(type)) {
    throw new Refusal("unsupported_media_type", { accepted: ["application/json"] });
  }
}

/** Refuses what overflows an address's bucket. */
function openEdgeGuard({ limits }: DoorSettings, clock: Clock): (ip: string) => void {
  const buckets = openTokenBuckets(clock, { perSecond: limits.edgePerSecond, burst: limits.edgeBurst });
  return (ip) => {
    if (buckets.take(ip)) return;
    const now = clock.now();
    throw new LimitRefusal(
      limits.edgePerSecond,
      { used: limits.edgePerSecond, now, resetsAt: now + EDGE_WINDOW_MS },
      EDGE_WINDOW_MS,
    );
  };
}
