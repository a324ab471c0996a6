import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import { systemClock } from "../clock.ts";
import { notInstalled } from "../installed.ts";
import type { Span, Tracer } from "./tracing.ts";
import { VERSION } from "../version.ts";

export interface OtlpSettings {
  /** The collector's address; spans go to `v1/traces` below it. */
  url: string;
  serviceName: string;
  headers: Readonly<Record<string, string>>;
}

const SEND_EVERY_MS = 1000;
const SEND_WITHIN_MS = 5000;
const CLOSE_WITHIN_MS = 1500;
/** The most spans kept in memory while the collector is unreachable; further spans are dropped. */
const MOST_WAITING = 8192;
const MOST_AT_ONCE = 512;
const WARN_EVERY_MS = 60_000;

const SAMPLED = 1;
const INTERNAL = 0;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;
const SCOPE = { name: "parley", version: VERSION };

/**
 * Opens a tracer that sends spans to an OpenTelemetry collector, as OTLP over HTTP. A collector that is away costs a line
 * of the log a minute, and the spans of that time.
 *
 * @throws {Error} one sentence for the operator, where OpenTelemetry's libraries are not installed
 */
export async function openOtlpTracer(settings: OtlpSettings, { log }: { log: Logger }): Promise<Tracer> {
  const [sdk, exporting, resources] = await Promise.all([
    load(() => import("@opentelemetry/sdk-trace")),
    load(() => import("@opentelemetry/exporter-trace-otlp-http")),
    load(() => import("@opentelemetry/resources")),
  ]);
  const collector = new exporting.OTLPTraceExporter({
    url: `${settings.url.replace(/(?<!\/)\/+$/, "")}/v1/traces`,
    headers: { ...settings.headers },
    timeoutMillis: SEND_WITHIN_MS,
  });
  const processor = new sdk.BatchSpanProcessor({
    exporter: warning(collector, log),
    scheduledDelayMillis: SEND_EVERY_MS,
    exportTimeoutMillis: SEND_WITHIN_MS + 1000,
    maxQueueSize: MOST_WAITING,
    maxExportBatchSize: MOST_AT_ONCE,
  });
  const resource = resources.resourceFromAttributes({
    "service.name": settings.serviceName,
    "service.version": VERSION,
  });

  return {
    isOn: true,
    record: (span) => processor.onEnd(endedSpan(span, resource)),
    async close() {
      const late = new AbortController();
      await Promise.race([
        processor.shutdown().catch(() => undefined),
        systemClock.sleep(CLOSE_WITHIN_MS, late.signal),
      ]);
      late.abort();
    },
  };
}

/** Returns an exporter to the same collector, which says in the log what that did not take, at most once a minute. */
function warning(collector: SpanExporter, log: Logger): SpanExporter {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      collector.export(spans, (result) => {
        if (result.error && systemClock.monotonic() - warnedAt > WARN_EVERY_MS) {
          warnedAt = systemClock.monotonic();
          log.warn({ error: result.error.message, spans: spans.length }, "the collector did not take spans");
        }
        done(result);
      });
    },
    shutdown: () => collector.shutdown(),
  };
}

/** Returns a span in the form of OpenTelemetry's libraries. */
function endedSpan(span: Span, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentId, error } = span;
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: SAMPLED });
  return {
    name: span.name,
    kind: INTERNAL,
    resource,
    instrumentationScope: SCOPE,
    spanContext: () => contextOf(spanId),
    ...(parentId !== undefined && { parentSpanContext: { ...contextOf(parentId), isRemote: true } }),
    ...timesOf(span),
    status: error === undefined ? { code: STATUS_UNSET } : { code: STATUS_ERROR, message: error },
    attributes: { ...span.attributes },
    links: [],
    events: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Nothing ends before it began, whatever clocks say. */
function timesOf({ from, to }: Span) {
  const end = Math.max(from, to);
  return { startTime: timeOf(from), endTime: timeOf(end), duration: timeOf(end - from) };
}

/** Seconds and nanoseconds. */
function timeOf(ms: number): [number, number] {
  const micros = Math.round(ms * 1000);
  return [Math.floor(micros / 1e6), (micros % 1e6) * 1000];
}

async function load<T>(importing: () => Promise<T>): Promise<T> {
  try {
    return await importing();
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing) throw error;
    throw notInstalled("telemetry.otlp_url is set", "OpenTelemetry");
  }
}
