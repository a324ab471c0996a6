import Fastify, { type FastifyInstance } from "fastify";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino, type Logger } from "pino";
import type { Config } from "./config.ts";
import type { Context } from "./context.ts";
import { systemClock, type Clock } from "./lib/clock.ts";
import { openContainedFiles } from "./lib/contained-files.ts";
import { openGuardedFetch } from "./lib/guarded-fetch.ts";
import { openForeignSchemas } from "./lib/foreign-schema.ts";
import { idMaker } from "./lib/id.ts";
import { limitConnections, listenAtIpv6Loopback, watchUnused } from "./lib/listen.ts";
import { systemRandom, type Random } from "./lib/random.ts";
import { requestScope } from "./lib/request-scope.ts";
import type { Tracer } from "./lib/tracing.ts";
import { openSecretScan } from "./lib/secret-scan.ts";
import { VERSION } from "./lib/version.ts";
import type { Channel } from "./channels/channel.ts";
import { openDeliver } from "./loops/deliver.ts";
import { expireDueAddressed, expireDueAsks } from "./loops/expire.ts";
import { openExpireJobs } from "./loops/expire-jobs.ts";
import { expireDueRelayAsks } from "./loops/expire-relay.ts";
import { openTrail } from "./loops/trail.ts";
import { a2h } from "./protocols/a2h/a2h.ts";
import { usualAudienceOf } from "./protocols/a2h/addressees.ts";
import { readKnownChannels } from "./protocols/a2h/known-channels.ts";
import { assignment } from "./protocols/assignment/assignment.ts";
import { atOwnHost } from "./protocols/assignment/host-form.ts";
import { askAHuman } from "./protocols/ask-a-human/ask-a-human.ts";
import type { DoorContext } from "./protocols/door.ts";
import { readBodiesAsBytes } from "./protocols/door-body.ts";
import { refuseConnection, sendError, sendRefusal } from "./protocols/door-errors.ts";
import { checkFields } from "./protocols/door-fields.ts";
import { closeWhenStopping, installGuards, refuseOtherMethods } from "./protocols/door-guards.ts";
import { tellLimits } from "./protocols/door-limits.ts";
import { openParked } from "./protocols/door-parked.ts";
import { hooks } from "./protocols/hooks/hooks.ts";
import { mcp } from "./protocols/mcp/mcp.ts";
import { relay } from "./protocols/relay/relay.ts";
import { linkPage } from "./protocols/web/link-page.ts";
import { missingPage, pages } from "./protocols/web/pages.ts";
import { conversationRoutes } from "./protocols/web/conversation-routes.ts";
import { describeApi } from "./protocols/ops/api-document.ts";
import { measureRequests, openMetrics, type Metrics } from "./protocols/ops/metrics.ts";
import { openRelayCounters } from "./protocols/ops/relay-metrics.ts";
import { opsRoutes } from "./protocols/ops/ops-routes.ts";
import { inboxRoutes } from "./protocols/web/inbox-routes.ts";
import { inboxTaskRoutes } from "./protocols/web/inbox-task-routes.ts";
import { adminRoutes } from "./protocols/web/admin-routes.ts";
import { adminAssignmentRoutes } from "./protocols/web/admin-assignment-routes.ts";
import { adminCacheRoutes } from "./protocols/web/admin-cache-routes.ts";
import { adminRelayRoutes } from "./protocols/web/admin-relay-routes.ts";
import { adminStateRoutes } from "./protocols/web/admin-state-routes.ts";
import { policyRoutes } from "./protocols/web/policy-routes.ts";
import { receiptRoutes } from "./protocols/web/receipt-routes.ts";
import { signInRoutes } from "./protocols/web/sign-in-routes.ts";
import { Refusal } from "./refusals.ts";
import { readPushAccounts, startPush, type PushAccounts } from "./server-push.ts";
import { catalogueOf, openChannels } from "./server-channels.ts";
import { startLoops } from "./server-loops.ts";
import { openPolicy, policyNotes, startPolicy } from "./server-policy.ts";
import { openRelay, type Relay } from "./server-relay.ts";
import { openTracer } from "./server-telemetry.ts";
import { openServerWorkshop, type ServerWorkshop } from "./server-workshop.ts";
import { openStore, type Store } from "./store/open-store.ts";
import { openReaders } from "./store/readers.ts";
import { timedDb } from "./store/timed-db.ts";
import { prepareFirstStart } from "./verbs/prepare-first-start.ts";
import { openReadLimits } from "./verbs/read-limits.ts";
import type { z } from "zod";

/** What the server takes from the machine; tests put their own in its place. */
export interface Outside {
  clock: Clock;
  random: Random;
  fetch: typeof globalThis.fetch;
  log: Logger;
  /** A sync to disk failed; the process must end. */
  onFatal: (error: Error) => void;
  /** Opens the store in another way, such as in memory. */
  openStore: () => Promise<Store>;
  /** Ways to reach people beside those that are configured. */
  channels: readonly Channel[];
  acceptLoss: boolean;
}

export interface RunningServer {
  /** Where it listens. */
  url: string;
  ctx: Context;
  /** What the operator should hear. */
  notes: readonly string[];
  /** The first `agent` key, at the very first start only. */
  firstKey: string | null;
  /** One line about the store. */
  describes: string;
  /** What gives coding agents work; null where nothing does. */
  work: Pick<ServerWorkshop, "notices" | "drain"> | null;
  /** Reads the files again that are watched anyway. */
  reload(): Promise<void>;
  /** Waiters are answered, streams end, writes finish, the store is closed; safe to call twice. */
  stop(): Promise<void>;
}

const WEB_DIST = fileURLToPath(new URL("../web/dist/", import.meta.url));
/** What is still under way after this is cut off, so that a stop ends within ten seconds. */
const CLOSE_WITHIN_MS = 8000;
/** Slow headers are really cut only because connections are looked at every second. */
const HTTP_LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
  // The guards refuse what names no host, in the shape of every other refusal.
  requireHostHeader: false,
} as const;
const SOCKETS_PER_ADDRESS = 1000;

/**
 * Opens the store, settles what came due while nobody was looking, and answers requests.
 *
 * @throws {Error} one sentence for the operator, nothing harmed
 */
export async function startServer(config: Config, outside: Partial<Outside> = {}): Promise<RunningServer> {
  const { clock = systemClock, random = systemRandom, log = pino({ level: config.log.level }) } = outside;
  const onFatal = outside.onFatal ?? endProcess(log);
  const open =
    outside.openStore ??
    (() =>
      openStore(config, { clock, random, log, exclusive: true, onFatal, acceptLoss: outside.acceptLoss ?? false }));
  const tracer = await openTracer(config, log);
  const store = await open();
  const metrics = openMetrics();
  const counters = openRelayCounters(metrics.registry, { tools: Object.keys(config.tools) });
  const stopping = new AbortController();
  let relayed: Relay | null = null;
  const ctx: Context = {
    db: timedDb(store.db, clock, metrics.observeTransaction),
    wake: store.wake,
    keyring: store.keyring,
    clock,
    random,
    newId: idMaker(random),
    fetch: outside.fetch ?? globalThis.fetch,
    log,
    readers: openReaders(clock),
    crowd: config.crowd.rules,
    addressed: config.addressed,
    relay: config.relayRules,
    assignment: config.assignment,
    offer: (askId) => relayed?.respond.offer(askId),
    tell: (fact) => trail.note(fact),
    schemas: openForeignSchemas(),
    secrets: openSecretScan(config.limits),
    artifacts: openContainedFiles(join(config.dataDir, "artifacts")),
    stopping: stopping.signal,
  };
  const trail = openTrail(ctx, tracer);
  const settings = { ...config };
  const channels = new Map<string, Channel>();
  const deliver = openDeliver(ctx, { channels, publicUrl: () => settings.publicUrl });
  const guardedFetch = openGuardedFetch({ allow: config.webhooks.allow, loopbackOnly: config.loopbackOnly });
  const configured = openChannels(ctx, settings, { onFailed: deliver.bounced, guardedFetch });
  for (const channel of [...configured, ...(outside.channels ?? [])]) channels.set(channel.name, channel);
  const policy = await openPolicy(ctx, config);
  const workshop = await openServerWorkshop(ctx, config, () => urlOf(app, config));
  const door: DoorContext = {
    ctx,
    policy,
    config: settings,
    readLimits: openReadLimits(ctx),
    parked: openParked(clock),
    channels: catalogueOf(channels),
    work: workshop?.work ?? null,
  };

  let app: FastifyInstance;
  let twin: Server | null = null;
  const unused: (() => void)[] = [];
  let firstKey: string | null;
  let push: PushAccounts;
  try {
    ({ agentKey: firstKey } = await prepareFirstStart(ctx));
    push = await readPushAccounts(ctx, config);
    while (await expireDueAsks(ctx, stopping.signal));
    while (await expireDueAddressed(ctx, stopping.signal));
    const expireJobs = openExpireJobs(ctx);
    while (await expireJobs(stopping.signal));
    while (await expireDueRelayAsks(ctx, stopping.signal));
    relayed = await openRelay(ctx, config, { policy, counters, trail });
    // point: before-listening
    app = await buildApp(door, channels, config.trustedProxies, { metrics, tracer });
    await app.listen({ host: config.host, port: config.port });
    // Only now is it known which port was free.
    if (config.publicUrl === "http://127.0.0.1:0") settings.publicUrl = urlOf(app, config);
    unused.push(watchUnused(app.server));
    if (config.host === "127.0.0.1") twin = await listenTwin(app, ctx);
    if (twin) unused.push(watchUnused(twin));
  } catch (error) {
    await store.close();
    throw listenSentence(error, config);
  }

  const loops = [
    ...startLoops(door, channels, { deliver, guardedFetch, counters }),
    ...startPush(ctx, settings, push, guardedFetch),
    ...startPolicy(ctx, policy),
    ...relayed.start(),
    ...(workshop ? [workshop.start()] : []),
  ];
  let stopped: Promise<void> | null = null;
  async function stop(): Promise<void> {
    stopping.abort();
    // point: while-stopping
    await Promise.all(loops.map((loop) => loop.stop()));
    await Promise.all([relayed?.close(), workshop?.leave()]);
    const cut = setTimeout(() => [app.server, twin].forEach((one) => one?.closeAllConnections()), CLOSE_WITHIN_MS);
    const twinClosed = twin && once(twin, "close");
    twin?.close();
    twin?.closeIdleConnections();
    for (const closeUnused of unused) closeUnused();
    await app.close();
    await twinClosed;
    clearTimeout(cut);
    await door.readLimits.merge().catch(() => undefined);
    await Promise.all([ctx.schemas.close(), ctx.secrets.close()]);
    await tracer.close();
    // point: stopped-before-close
    await store.close();
  }
  return {
    url: urlOf(app, config),
    ctx,
    notes: [...store.notes, ...policyNotes(config, policy)],
    firstKey,
    describes: store.db.describes,
    work: workshop,
    reload: () => policy.reload(),
    stop: () => (stopped ??= stop()),
  };
}

/** Builds the HTTP server with every door; it does not listen yet. */
async function buildApp(
  door: DoorContext,
  channels: ReadonlyMap<string, Channel>,
  trustedProxies: string[],
  { metrics, tracer }: { metrics: Metrics; tracer: Tracer },
): Promise<FastifyInstance> {
  const { ctx, config } = door;
  const pathKeys = new WeakMap<IncomingMessage, string>();
  const app = Fastify({
    logger: false,
    bodyLimit: 1_048_576,
    trustProxy: trustedProxies.length > 0 ? trustedProxies : false,
    genReqId: () => ctx.newId("req"),
    requestTimeout: HTTP_LIMITS.requestTimeout,
    http: HTTP_LIMITS,
    routerOptions: {
      ignoreDuplicateSlashes: true,
      ignoreTrailingSlash: true,
      maxParamLength: HTTP_LIMITS.maxHeaderSize,
    },
    rewriteUrl: (request) => decodable(atOwnHost(request.headers.host, cutPathKey(request, pathKeys))),
    // The guards answer for themselves while the server stops.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseConnection(ctx, error, socket),
  });

  limitConnections(app.server, SOCKETS_PER_ADDRESS);
  app.decorateRequest("facts", undefined as never);
  app.addHook("onRequest", (request, reply, done) => {
    const pathKey = pathKeys.get(request.raw);
    request.facts = pathKey === undefined ? {} : { pathKey };
    reply
      .header("cache-control", "no-store")
      .header("x-content-type-options", "nosniff")
      .header("referrer-policy", "no-referrer")
      .header("cross-origin-resource-policy", "same-origin");
    done();
  });
  installGuards(app, { config, clock: ctx.clock, stopping: ctx.stopping });
  app.addHook("preHandler", (request, _, done) => requestScope.run(request.id, done));
  measureRequests(app, metrics);
  tellLimits(app);
  closeWhenStopping(app, ctx.stopping);
  readBodiesAsBytes(app);
  app.setValidatorCompiler(
    ({ schema }) =>
      (value: unknown) =>
        checkFields(schema as z.ZodType, value),
  );
  app.setSerializerCompiler(() => (value: unknown) => JSON.stringify(value));
  const hsts = config.publicUrl.startsWith("https:");
  const pagesOptions = { distDir: WEB_DIST, hsts, promptPad: ctx.assignment.promptPad };
  const showMissing = missingPage(pagesOptions);
  app.setErrorHandler((error, request, reply) => {
    if (request.is404 && error instanceof Refusal && error.code === "route_not_found" && showMissing(request, reply))
      return;
    sendError(ctx, error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => sendRefusal(request, reply, new Refusal("route_not_found")));

  const taken = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method, config: route }) => {
    if (route?.allowed || route?.ownMethods) return;
    const methods = taken.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    taken.set(url, methods);
  });

  await describeApi(app, VERSION);
  await app.register(askAHuman(door));
  const known = readKnownChannels(door);
  await app.register(a2h(door, known));
  await app.register(relay(door));
  await app.register(assignment(door));
  await app.register(mcp(door, usualAudienceOf(ctx, known), tracer));
  await app.register(signInRoutes(door));
  await app.register(receiptRoutes(door));
  await app.register(hooks(door, channels.values()));
  await app.register(inboxRoutes(door));
  await app.register(inboxTaskRoutes(door));
  await app.register(conversationRoutes(door));
  await app.register(adminRoutes(door));
  await app.register(adminStateRoutes(door));
  await app.register(policyRoutes(door));
  await app.register(adminRelayRoutes(door));
  await app.register(adminCacheRoutes(door));
  await app.register(adminAssignmentRoutes(door));
  await app.register(linkPage(door));
  await app.register(opsRoutes(door, metrics));
  await app.register(pages, pagesOptions);
  refuseOtherMethods(app, taken);
  await app.ready();
  return app;
}

/** The same server at ::1, where this machine has that address. */
async function listenTwin(app: FastifyInstance, ctx: Context): Promise<Server | null> {
  const twin = createServer(HTTP_LIMITS, (request, response) => app.routing(request, response));
  twin.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => refuseConnection(ctx, error, socket));
  limitConnections(twin, SOCKETS_PER_ADDRESS);
  const { port } = app.server.address() as AddressInfo;
  return (await listenAtIpv6Loopback(twin, port)) ? twin : null;
}

/** Takes the key out of `/k/<key>/...` before anything can log or route it. */
function cutPathKey(request: IncomingMessage, pathKeys: WeakMap<IncomingMessage, string>): string {
  const url = request.url ?? "/";
  const match = /^\/+k\/+([^/?#]+)(?=[/?#]|$)/.exec(url);
  if (!match?.[1]) return url;
  pathKeys.set(request, match[1]);
  const rest = url.slice(match[0].length);
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
  return request.url;
}

/** Returns the address with a path that can be decoded: what cannot be is taken as it stands, and so is unknown. */
function decodable(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll("%", "%25") + url.slice(path.length);
  }
}

function urlOf(app: FastifyInstance, config: Config): string {
  const { port } = app.server.address() as AddressInfo;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return `http://${host === "0.0.0.0" || host === "[::]" ? "127.0.0.1" : host}:${port}`;
}

function listenSentence(error: unknown, { host, port }: Config): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  switch (error.code) {
    case "EADDRINUSE":
      return new Error(`Port ${port} on ${host} is taken by another program; stop it, or choose another with --port.`);
    case "EACCES":
      return new Error(`This user may not listen on port ${port}; choose one above 1023 with --port.`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Error(`${host} is not an address of this machine; choose another with --host.`);
    default:
      return error;
  }
}

function endProcess(log: Logger): (error: Error) => void {
  return (error) => {
    log.fatal({ err: error }, "a sync to disk failed; what is on disk is unknown, so this process ends");
    process.exit(70);
  };
}
