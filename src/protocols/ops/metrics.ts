import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Counter, Gauge, Histogram, type Metric, Registry } from "prom-client";
import { type ActivityReader, followActivity } from "../../questions/observe.ts";
import type { DoorContext } from "../http/door.ts";

/** The counters and timers of one server. Labels are names, never ids, keys or addresses. */
export interface Metrics {
  registry: Registry;
  /** Each brings figures of the store up to date; they are looked at together, before anything is printed. */
  looks: (() => Promise<void>)[];
  /** Returns every figure as Prometheus reads it, as of now. */
  text(): Promise<string>;
  /** How long a transaction took, in seconds. */
  observeTransaction(seconds: number): void;
}

const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const TRANSACTION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const WAIT_KINDS = ["long-polls", "streams", "human streams", "mcp waits"] as const;

let ofProcess: Registry | undefined;

/** Returns the registry of the process's own metrics. There is one for all servers, and it is never stopped. */
function processMetrics(): Registry {
  if (!ofProcess) collectDefaultMetrics({ register: (ofProcess = new Registry()) });
  return ofProcess;
}

/** Opens the metrics of one server, in a registry of its own. The loop's lag and the process are among them. */
export function openMetrics(): Metrics {
  const registry = new Registry();
  for (const metric of processMetrics().getMetricsAsArray()) registry.registerMetric(metric as unknown as Metric);
  const transactions = new Histogram({
    name: "parley_store_transaction_seconds",
    help: "Time of a transaction, from asking for it to its commit on disk.",
    buckets: TRANSACTION_BUCKETS,
    registers: [registry],
  });
  const looks: Metrics["looks"] = [];
  return {
    registry,
    looks,
    async text() {
      await Promise.all(looks.map((look) => look()));
      return registry.metrics();
    },
    observeTransaction: (seconds) => transactions.observe(seconds),
  };
}

/** Times every request by route and status; a stream or a long-poll counts when it ends. */
export function measureRequests(app: FastifyInstance, { registry }: Metrics): void {
  const requests = new Histogram({
    name: "parley_http_request_seconds",
    help: "Time of an HTTP request until its reply has been sent.",
    labelNames: ["route", "method", "status"],
    buckets: REQUEST_BUCKETS,
    registers: [registry],
  });
  app.addHook("onResponse", (http, reply, done) => {
    const { other } = http.facts;
    const route = other?.path ?? (http.is404 ? "unknown" : (http.routeOptions.url ?? "unknown"));
    requests.observe({ route, method: http.method, status: reply.statusCode }, reply.elapsedTime / 1000);
    done();
  });
}

/** Measures what is asked, answered and waited for. The store is read when somebody looks, and not otherwise. */
export function measureWork({ registry, looks }: Metrics, door: DoorContext): void {
  const activity = followActivity(door.ctx);
  const created = counter(
    registry,
    "parley_asks_created_total",
    "Asks created in the store since this server started.",
  );
  const responses = counter(
    registry,
    "parley_responses_total",
    "Answers accepted in the store since this server started.",
  );
  const settled = new Counter({
    name: "parley_asks_settled_total",
    help: "Asks that ended in the store since this server started.",
    labelNames: ["state"],
    registers: [registry],
  });
  const open = new Gauge({
    name: "parley_asks_open",
    help: "Asks that are open.",
    registers: [registry],
  });
  const waiters = new Gauge({
    name: "parley_waiters_parked",
    help: "Long-polls and streams that this server holds.",
    labelNames: ["kind"],
    registers: [registry],
    collect: () => WAIT_KINDS.forEach((kind) => waiters.set({ kind }, door.limiter.count(kind))),
  });

  async function look(reader: ActivityReader): Promise<void> {
    const { open: count, activity: since } = await reader.next();
    open.set(count);
    created.inc(since.created);
    responses.inc(since.responses);
    for (const state of ["answered", "expired", "cancelled"] as const) settled.inc({ state }, since[state]);
  }
  looks.push(() => look(activity));
  // The first look opens the span.
  void look(activity).catch(() => undefined);
}

function counter(registry: Registry, name: string, help: string): Counter {
  return new Counter({ name, help, registers: [registry] });
}
