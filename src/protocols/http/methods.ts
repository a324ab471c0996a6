import findMyWay, { type Instance, type HTTPVersion } from "find-my-way";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest, RouteOptions } from "fastify";

/** A path that is there and takes other methods than the one it was asked with. */
export interface OtherMethods {
  /** The path as its routes name it, with names of parameters. */
  path: string;
  /** The methods that the path takes, in alphabetical order, without HEAD. */
  allowed: readonly string[];
  /** The server, or the part of it with one door, in whose words the request is refused. */
  refusedBy: FastifyInstance;
  /** The origins whose pages may read the refusal, where they are not the server's own list. */
  cors: readonly string[] | undefined;
}

interface KnownPath {
  methods: Set<string>;
  refusedBy: FastifyInstance;
  route: RouteOptions;
}

/** How the server reads the path of a request; the one router and the other must agree. */
export const PATH_READING = {
  ignoreDuplicateSlashes: true,
  ignoreTrailingSlash: true,
  // No parameter is longer than what the HTTP parser takes.
  maxParamLength: 16_384,
} as const;

/**
 * Notes every route that is registered from now on, and returns what tells of a request that its path takes other
 * methods. Nothing is registered for those: a route for each was a tenth of a start.
 *
 * The path decides before the method does: `GET /jobs/claim` is refused where only POST is taken there, although
 * `GET /jobs/:id` would take it.
 */
export function noteMethods(app: FastifyInstance): (http: FastifyRequest) => OtherMethods | null {
  const known = new Map<string, KnownPath>();
  let router: Instance<HTTPVersion.V1> | undefined;

  app.addHook("onRoute", function (route) {
    const path = known.get(route.url) ?? {
      methods: new Set(),
      refusedBy: route.config?.ownMethods ? this : app,
      route,
    };
    for (const method of [route.method].flat()) path.methods.add(method);
    known.set(route.url, path);
  });

  function openRouter(): Instance<HTTPVersion.V1> {
    const opened = findMyWay(PATH_READING);
    for (const [url, path] of known) opened.on("GET", url, () => undefined, path);
    return opened;
  }

  return (http) => {
    // No path is preferred to one that is spelled out in full, so its route is the right one.
    if (!http.is404 && !/[:*]/.test(http.routeOptions.url ?? "")) return null;
    router ??= openRouter();
    const found: KnownPath | undefined = router.find("GET", http.raw.url ?? "")?.store;
    if (!found || found.methods.has(http.raw.method ?? "")) return null;
    const allowed = [...found.methods].filter((method) => method !== "HEAD").sort();
    return { path: found.route.url, allowed, refusedBy: found.refusedBy, cors: found.route.config?.cors };
  };
}

const ROUTED_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Gives every method that no path takes, such as PROPFIND, one name that the router knows, so that one route can refuse
 * them all. Call it before a request is routed.
 */
export function joinUnroutedMethods(http: IncomingMessage): void {
  if (!ROUTED_METHODS.has(http.method ?? "")) http.method = "TRACE";
}
