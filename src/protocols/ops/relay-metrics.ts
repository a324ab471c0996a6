import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { JOB_STATES, STAGES } from "../../asks/model/ask.ts";
import { followRelay } from "../../asks/read/figures.ts";
import type { DoorContext } from "../http/door.ts";
import type { Metrics } from "./metrics.ts";

/** The histogram buckets of the specification, in milliseconds (spec/relay 18). */
const LATENCY_MS = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2000, 3000, 5000, 8000, 15_000, 30_000, 60_000, 300_000, 3_600_000, 86_400_000,
];

/** Counts the steps on the way to an answer; each server counts its own. */
export interface RelayCounters {
  policyDecision(decision: string, defaulted: boolean): void;
  cacheLookup(result: "hit" | "miss" | "bypass", type: string): void;
  tokens(tokens: { input: number; output: number }, role: string | null, model: string): void;
  toolCall(tool: string, outcome: string): void;
  run(outcome: string): void;
  misfit(role: string | null, attempt: number): void;
  leaseLost(): void;
}

/**
 * Opens the counters of the relay. Their labels come from closed sets: what is configured, else `other`, so that nobody
 * who asks can make new ones.
 */
export function openRelayCounters(registry: Registry, known: { tools: readonly string[] }): RelayCounters {
  const make = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] });
  const decisions = make("parley_policy_decisions_total", "What policy decided.", ["decision", "defaulted"]);
  const lookups = make("parley_ask_cache_lookups_total", "Looks into the decision cache.", ["result", "ask_type"]);
  const tokens = make("parley_ask_tokens_total", "Tokens of the model.", ["direction", "role", "model"]);
  const seedTokens = make("ask_tokens_total", "Tokens of the model.", ["direction"]);
  const calls = make("parley_tool_calls_total", "Calls of tools by the model.", ["tool", "outcome"]);
  const runs = make("parley_runner_runs_total", "Runs of the answer-runner.", ["outcome"]);
  const misfits = make("parley_runner_schema_failures_total", "Replies that did not fit.", ["role", "try"]);
  const lost = make("parley_lease_expired_total", "Jobs whose holder was not heard of.", []);
  const toolNames = new Set([...known.tools, "code.run", "artifact.write"]);

  return {
    policyDecision: (decision, defaulted) => decisions.inc({ decision, defaulted: String(defaulted) }),
    cacheLookup: (result, type) => lookups.inc({ result, ask_type: type }),
    tokens(used, role, model) {
      for (const direction of ["input", "output"] as const) {
        tokens.inc({ direction, role: role ?? "none", model }, used[direction]);
        seedTokens.inc({ direction }, used[direction]);
      }
    },
    toolCall: (tool, outcome) => calls.inc({ tool: toolNames.has(tool) ? tool : "other", outcome }),
    run: (outcome) => runs.inc({ outcome }),
    misfit: (role, attempt) => misfits.inc({ role: role ?? "none", try: String(attempt) }),
    leaseLost: () => lost.inc(),
  };
}

/** Measures what executors ask. The store is read when somebody looks, and not otherwise. */
export function measureRelay({ registry, looks }: Metrics, { ctx, limiter }: DoorContext): void {
  const activity = followRelay(ctx);
  const metrics = relayMetrics(registry);
  measureStreams(registry, limiter);

  async function look(): Promise<void> {
    const now = await activity.next();
    for (const type of ASK_TYPES) {
      for (const stage of STAGES) {
        const found = now.pending.find((one) => one.type === type && one.stage === stage);
        metrics.pending.set({ ask_type: type, stage }, found?.count ?? 0);
      }
    }
    for (const state of JOB_STATES) {
      metrics.jobs.set({ state }, now.jobs.find((one) => one.state === state)?.count ?? 0);
    }
    for (const { type, stage, status, source, ms } of now.ended) {
      metrics.ended.inc({ status, ask_type: type, stage });
      metrics.statuses.inc({ status });
      if (source === "cache") metrics.hits.inc();
      metrics.seedLatency.observe({ ask_type: type, stage }, ms);
      metrics.latency.observe({ ask_type: type, stage }, ms / 1000);
    }
  }
  looks.push(look);
  // The first look opens the span.
  void look().catch(() => undefined);
}

/** Opens what is measured of asks and jobs; several under two names, of which one is the specification's (spec/relay 18). */
function relayMetrics(registry: Registry) {
  const of = { registers: [registry], labelNames: ["ask_type", "stage"] as const };
  return {
    seedLatency: new Histogram({
      ...of,
      name: "ask_latency_ms",
      help: "From asking to the answer, in milliseconds.",
      buckets: LATENCY_MS,
    }),
    latency: new Histogram({
      ...of,
      name: "parley_ask_latency_seconds",
      help: "From asking to the answer.",
      buckets: LATENCY_MS.map((ms) => ms / 1000),
    }),
    hits: new Counter({
      name: "ask_cache_hits_total",
      help: "Asks that the cache answered.",
      registers: [registry],
    }),
    statuses: new Counter({
      name: "ask_status_total",
      help: "Asks that ended.",
      registers: [registry],
      labelNames: ["status"],
    }),
    ended: new Counter({
      name: "parley_asks_total",
      help: "Asks that ended.",
      registers: [registry],
      labelNames: ["status", "ask_type", "stage"],
    }),
    jobs: new Gauge({
      name: "parley_job_state",
      help: "Jobs in each state.",
      registers: [registry],
      labelNames: ["state"],
    }),
    pending: new Gauge({
      ...of,
      name: "parley_asks_pending",
      help: "Asks that are pending.",
    }),
  };
}

/** Measures the event streams that are open, whenever the metrics are read. */
function measureStreams(registry: Registry, limiter: DoorContext["limiter"]): void {
  const streams: Gauge<"stream"> = new Gauge({
    name: "parley_sse_clients",
    help: "Event streams that are open.",
    registers: [registry],
    labelNames: ["stream"],
    collect: () => {
      for (const stream of ["streams", "human streams", "inbox streams"])
        streams.set({ stream }, limiter.count(stream));
    },
  });
  const seedStreams: Gauge = new Gauge({
    name: "sse_clients_gauge",
    help: "Event streams that are open.",
    registers: [registry],
    collect: () => seedStreams.set(limiter.count("streams")),
  });
}
