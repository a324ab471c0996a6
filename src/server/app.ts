import Fastify, { type FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import type { Context } from "../context.ts";
import { requestScope } from "../lib/tracing/request-scope.ts";
import { VERSION } from "../lib/version.ts";
import type { KnownChannels } from "../protocols/a2h/addressees.ts";
import { atOwnHost } from "../protocols/assignment/host-form.ts";
import { readBodiesAsBytes } from "../protocols/http/body.ts";
import { COMPILERS } from "../protocols/http/compilers.ts";
import { refuseConnection, sendError, sendRefusal } from "../protocols/http/errors.ts";
import { installGuards } from "../protocols/http/guards.ts";
import { tellLimits } from "../protocols/http/limits.ts";
import { joinUnroutedMethods, noteMethods, PATH_READING } from "../protocols/http/methods.ts";
import { cutPathKey, decodable } from "../protocols/http/path.ts";
import { cookieName } from "../protocols/http/principals.ts";
import { describeApi } from "../protocols/ops/api-document.ts";
import { measureRequests } from "../protocols/ops/metrics.ts";
import { missingPage } from "../protocols/web/pages/pages.ts";
import { plainForwardedFor } from "../lib/network/forwarded-for.ts";
import { Refusal } from "../refusals.ts";
import { DOORS } from "./doors.ts";
import { HTTP_LIMITS } from "./listening.ts";
import type { Parts } from "./parts.ts";

const WEB_DIST = fileURLToPath(new URL("../../web/dist/", import.meta.url));

/** Builds the HTTP server with every door; it does not listen yet. */
export async function buildApp(parts: Parts, known: KnownChannels): Promise<FastifyInstance> {
  const { ctx, settings, metrics, refusing } = parts;
  const app = openFastify(ctx, parts.config.trustedProxies);
  const otherMethods = noteMethods(app);
  installGuards(app, { config: settings, clock: ctx.clock, refusing: refusing.signal, otherMethods });
  app.addHook("preHandler", (http, _, done) => requestScope.run(http.id, done));
  measureRequests(app, metrics);
  tellLimits(app);
  readBodiesAsBytes(app);
  const { publicUrl } = settings;
  const hsts = publicUrl.startsWith("https:");
  const pagesOptions = { distDir: WEB_DIST, hsts, promptPad: ctx.assignment.promptPad };
  answerErrors(app, ctx, missingPage(pagesOptions));
  const openApi = describeApi(app, { version: VERSION, publicUrl, sessionCookie: cookieName(parts.door, "parley") });
  for (const open of DOORS) await app.register(open({ ...parts, known, pagesOptions, openApi }));
  await app.ready();
  return app;
}

/** The application without doors: how it reads an address, and the headers of all that it answers. */
function openFastify(ctx: Context, trustedProxies: string[]): FastifyInstance {
  const pathKeys = new WeakMap<IncomingMessage, string>();
  const app = Fastify({
    logger: false,
    bodyLimit: 1_048_576,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    genReqId: () => ctx.newId("req"),
    requestTimeout: HTTP_LIMITS.requestTimeout,
    http: HTTP_LIMITS,
    routerOptions: PATH_READING,
    schemaController: COMPILERS,
    rewriteUrl(http) {
      joinUnroutedMethods(http);
      readForwardedFor(http);
      return decodable(atOwnHost(http.headers.host, cutPathKey(http, pathKeys)));
    },
    // The guards answer for themselves while the server stops.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseConnection(ctx, error, socket),
  });

  app.decorateRequest("facts", undefined as never);
  app.addHook("onRequest", (http, reply, done) => {
    const pathKey = pathKeys.get(http.raw);
    http.facts = pathKey === undefined ? {} : { pathKey };
    reply
      .header("cache-control", "no-store")
      .header("x-content-type-options", "nosniff")
      .header("referrer-policy", "no-referrer")
      .header("cross-origin-resource-policy", "same-origin");
    done();
  });
  return app;
}

/** Fastify takes each entry of the header as it stands. */
function readForwardedFor({ headers }: IncomingMessage): void {
  const written = headers["x-forwarded-for"];
  if (written !== undefined) headers["x-forwarded-for"] = plainForwardedFor([written].flat().join(","));
}

/** Answers errors in the form of their door, and a browser's unknown address by a page. */
function answerErrors(app: FastifyInstance, ctx: Context, showMissing: ReturnType<typeof missingPage>): void {
  app.setErrorHandler((error, http, reply) => {
    const { other } = http.facts;
    if (other && other.refusedBy !== app) return void other.refusedBy.errorHandler(error, http, reply);
    if (http.is404 && error instanceof Refusal && error.code === "route_not_found" && showMissing(http, reply)) return;
    sendError(ctx, error, http, reply);
  });
  app.setNotFoundHandler((http, reply) => sendRefusal(http, reply, new Refusal("route_not_found")));
}
