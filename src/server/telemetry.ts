import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { NO_TRACER, type Tracer } from "../lib/tracing/tracing.ts";

/** Opens traces where a collector is set; without one nothing of OpenTelemetry is loaded. */
export async function openTracer({ telemetry }: Config, log: Logger): Promise<Tracer> {
  const { otlpUrl: url, serviceName, headersEnv } = telemetry;
  if (url === undefined) return NO_TRACER;
  const { openOtlpTracer } = await import("../lib/tracing/otlp-tracer.ts");
  return openOtlpTracer({ url, serviceName, headers: readHeaders(process.env[headersEnv] ?? "") }, { log });
}

/** Reads `name=value` pairs, divided by commas and written as in an address, as OpenTelemetry has them. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 ? [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
