import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { MIMEType } from "node:util";
import type { Clock } from "../../lib/clock.ts";
import { printable } from "../../lib/printable.ts";
import { openTokenBuckets } from "../../lib/token-bucket.ts";
import { Refusal } from "../../refusals.ts";
import { LimitRefusal } from "../../core/limits.ts";
import type { DoorSettings } from "./door.ts";
import { BODY_LIMIT_BYTES } from "./errors.ts";
import type { OtherMethods } from "./methods.ts";
import { isFromHere } from "./reach.ts";
import { statedBytes } from "./query.ts";

const REQUEST_HEADERS =
  "Content-Type, Authorization, X-Agent-Id, X-Fingerprint, X-Participant-Token, X-Person, X-Time-Zone, X-Idempotency-Key, Idempotency-Key, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id";
const EXPOSED_HEADERS =
  "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotency-Replayed, X-Participant-Token, Location, WWW-Authenticate, X-Request-Id";
const PREFLIGHT_MAX_AGE_S = 3600;
const EDGE_WINDOW_MS = 1000;

interface GuardOptions {
  config: DoorSettings;
  clock: Clock;
  /** Aborted once the server stops: from then on every request is refused, with Retry-After. */
  refusing: AbortSignal;
  /** Tells of a request that its path takes other methods. */
  otherMethods: (http: FastifyRequest) => OtherMethods | null;
}

/**
 * Puts the guards before every route, in the contract's order: host, edge, path and method, origin, body
 * (spec/ask-a-human 1.1). Credentials follow in each door.
 */
export function installGuards(app: FastifyInstance, { config, clock, refusing, otherMethods }: GuardOptions): void {
  const hosts = allowedHosts(config);
  const edge = openEdgeGuard(config, clock);

  app.addHook("onRequest", (http, reply, done) => {
    reply.header("x-request-id", http.id);
    // Before anything is refused: a page must be able to read a refusal too.
    const origin = http.headers.origin;
    const other = otherMethods(http);
    if (other) http.facts.other = other;
    const { cors: own } = other ?? http.routeOptions.config;
    const origins = own ?? config.cors.origins;
    const listed = origin !== undefined && origins.includes(origin);
    if (origins.length > 0) reply.header("vary", "Origin");
    if (listed) {
      reply.header("access-control-allow-origin", origin).header("access-control-expose-headers", EXPOSED_HEADERS);
    }

    refuseForeignHost(http, hosts);
    const alwaysAnswers = !other && http.routeOptions.config.alwaysAnswers;
    if (!alwaysAnswers && !isFromHere(config, http)) edge(http.ip);
    if (!alwaysAnswers && refusing.aborted) throw new Refusal("store_unavailable");
    if (other) {
      if (listed && isPreflight(http)) return void preflight(reply, other);
      throw new Refusal("method_not_allowed", { allowed: other.allowed });
    }
    if (http.is404) throw new Refusal("route_not_found");
    const { takesBody, maxBodyBytes = BODY_LIMIT_BYTES, originless } = http.routeOptions.config;
    const mayComeFrom = listed || (originless && origin === "null");
    const isGuarded = own !== undefined || isUnsafe(http.method);
    if (origin !== undefined && !mayComeFrom && isGuarded && !isSameOrigin(http, config, origin)) {
      throw new Refusal("origin_refused");
    }
    if (takesBody) refuseOddBody(http, maxBodyBytes);
    done();
  });
}

/** The host names that are answered: loopback ones, `*.localhost`, the public URL's, and configured ones. */
function allowedHosts(config: DoorSettings): (host: string) => boolean {
  const names = new Set(["localhost", "127.0.0.1", "[::1]", new URL(config.publicUrl).hostname, ...config.hosts]);
  return (host) => names.has(host) || host.endsWith(".localhost");
}

function refuseForeignHost(http: FastifyRequest, allowed: (host: string) => boolean): void {
  // A proxy may pick another one of the two.
  const hosts = http.raw.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length > 1) throw new Refusal("bad_http");
  const given = http.headers.host ?? "";
  const name = /^(\[[0-9a-f:.]+\]|[^:/@\s]+)(:\d+)?$/i.exec(given)?.[1]?.toLowerCase();
  if (name === undefined || !allowed(name)) throw new Refusal("misdirected", { host: given.slice(0, 255) });
}

function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

function isSameOrigin(http: FastifyRequest, config: DoorSettings, origin: string): boolean {
  if (origin === config.publicUrl) return true;
  // A page of ours that was opened under another accepted name, such as localhost.
  return URL.canParse(origin) && new URL(origin).host === http.headers.host && /^https?:/.test(origin);
}

function isPreflight(http: FastifyRequest): boolean {
  return http.method === "OPTIONS" && http.headers["access-control-request-method"] !== undefined;
}

/** Answers a preflight with the methods of the path's own routes. */
function preflight(reply: FastifyReply, { allowed }: OtherMethods): FastifyReply {
  return reply
    .header("access-control-allow-methods", allowed.join(", "))
    .header("access-control-allow-headers", REQUEST_HEADERS)
    .header("access-control-max-age", PREFLIGHT_MAX_AGE_S)
    .code(204)
    .send();
}

const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.-]+\+json)$/;

function refuseOddBody(http: FastifyRequest, maxBytes: number): void {
  const length = statedBytes(http);
  if (length > maxBytes) throw new Refusal("body_too_large", { max_bytes: maxBytes });
  const present = length > 0 || http.headers["transfer-encoding"] !== undefined;
  if (!present) return;
  const encoding = http.headers["content-encoding"];
  const type = typeOf(http.headers["content-type"]);
  const accepted = { accepted: ["application/json"] };
  if ((encoding !== undefined && encoding !== "identity") || !isJson(type)) {
    throw new Refusal("unsupported_media_type", accepted);
  }
  const charset = type?.params.get("charset") ?? "utf-8";
  if (!isUtf8(charset)) {
    const says = `The body must be JSON in UTF-8; its Content-Type says charset=${printable(charset).slice(0, 40)}.`;
    throw new Refusal("unsupported_media_type", accepted, says);
  }
}

/** True where a `Content-Type` says JSON: no other site's page can send that without asking first. */
export function saysJson(header: string | undefined): boolean {
  return isJson(typeOf(header));
}

function isJson(type: MIMEType | null): boolean {
  return JSON_TYPE.test(type?.essence ?? "");
}

function typeOf(header: string | undefined): MIMEType | null {
  try {
    return new MIMEType(header ?? "");
  } catch {
    return null;
  }
}

/** True for every label that the Encoding standard has for UTF-8, such as `utf8`. */
function isUtf8(label: string): boolean {
  try {
    return new TextDecoder(label).encoding === "utf-8";
  } catch {
    return false;
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
