import { isAskFact } from "../asks/model/fact.ts";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import type { Tracer } from "../lib/tracing/tracing.ts";
import { openProbe, type StoreProbe } from "../core/loops/probe-store.ts";
import { openAskTelemetry, type AskTelemetry } from "../asks/loops/ask-telemetry.ts";
import type { DoorContext } from "../protocols/http/door.ts";
import { openConcurrencyLimiter } from "../protocols/http/concurrency-limiter.ts";
import { openMetrics, type Metrics } from "../protocols/ops/metrics.ts";
import { openRelayCounters, type RelayCounters } from "../protocols/ops/relay-metrics.ts";
import type { Announced } from "../policy/loops/announce.ts";
import type { PolicyFile } from "../responders/policy/policy-file.ts";
import { catalogueOf, openDelivery, type OpenedDelivery } from "./channels.ts";
import { openContext } from "./context.ts";
import { urlOf } from "./listening.ts";
import type { Outside } from "./outside.ts";
import { announcePolicy, openPolicy } from "./policy.ts";
import type { Relay } from "./relay.ts";
import { openTracer } from "./telemetry.ts";
import type { ServerWorkshop } from "./workshop.ts";
import type { Store } from "../core/store/open-store.ts";
import { openReadLimits } from "../core/read-limits.ts";

/** The parts of a server before it answers a request. */
export interface Parts {
  config: Config;
  /** As `config`, but for the public URL and for whether others reach the server: both are known once it listens. */
  settings: Config;
  outside: Outside;
  store: Store;
  tracer: Tracer;
  metrics: Metrics;
  counters: RelayCounters;
  ctx: Context;
  /** The people of each group; empty until they are read from the store. */
  groups: Map<string, readonly string[]>;
  telemetry: AskTelemetry;
  probe: StoreProbe;
  delivery: OpenedDelivery;
  policy: PolicyFile;
  announced: Announced;
  /** The workshop that gives coding agents work; null where the settings name no repository. */
  workshop: ServerWorkshop | null;
  door: DoorContext;
  later: OpenedLater;
  /** Aborted when the server stops: waiters answer with what they have, streams end. */
  stopping: AbortController;
  /** Aborted when the server stops and nothing follows it: a caller that comes then is asked to try again. */
  refusing: AbortController;
}

/** Parts that need the others and are reached by some of them; null until they are opened. */
export interface OpenedLater {
  relay: Relay | null;
  app: FastifyInstance | null;
}

/**
 * Opens traces, the store and everything over it, up to what doors are given.
 *
 * @throws {Error} one sentence for the operator, nothing harmed
 */
export async function openParts(config: Config, outside: Outside): Promise<Parts> {
  const tracer = await openTracer(config, outside.log);
  const store = await outside.openStore();
  const metrics = openMetrics();
  const counters = openRelayCounters(metrics.registry, { tools: Object.keys(config.tools) });
  const stopping = new AbortController();
  const refusing = new AbortController();
  const later: OpenedLater = { relay: null, app: null };
  const groups: Parts["groups"] = new Map();
  const ctx = openContext(config, {
    outside,
    store,
    metrics,
    groups,
    offer: (askId) => later.relay?.respond.offer(askId),
    tell: (fact) => isAskFact(fact) && telemetry.note(fact),
    stopping: stopping.signal,
  });
  const telemetry = openAskTelemetry(ctx, tracer);
  const probe = openProbe(ctx, () => store.probe());
  const settings = { ...config };
  const delivery = await openDelivery(ctx, settings, outside.channels);
  const policy = await openPolicy(ctx, config);
  const announced = announcePolicy(ctx, config, policy);
  const workshop = await openWorkshop(ctx, config, later);
  const door: DoorContext = {
    ctx,
    policy,
    otherPolicies: () => announced.others(),
    config: settings,
    readLimits: openReadLimits(ctx),
    limiter: openConcurrencyLimiter(ctx.clock),
    channels: catalogueOf(delivery.channels),
    work: workshop?.work ?? null,
    storeState: () => probe.state(),
  };
  return {
    config,
    settings,
    outside,
    store,
    tracer,
    metrics,
    counters,
    ctx,
    groups,
    telemetry,
    probe,
    delivery,
    policy,
    announced,
    workshop,
    door,
    later,
    stopping,
    refusing,
  };
}

/** Opens the workshop where the settings name a repository, and loads it then only. */
async function openWorkshop(ctx: Context, config: Config, later: OpenedLater): Promise<ServerWorkshop | null> {
  if (config.assignment.repos.length === 0) return null;
  const { openServerWorkshop } = await import("./workshop.ts");
  return openServerWorkshop(ctx, config, () => {
    if (!later.app) throw new Error("the server does not listen yet");
    return urlOf(later.app, config);
  });
}
