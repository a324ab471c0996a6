import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./contract.ts";

/** A span as a collector receives it. */
export interface CollectedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  /** Epoch milliseconds. */
  from: number;
  to: number;
  attributes: Record<string, unknown>;
  error?: string;
}

export interface Collector extends AsyncDisposable {
  url: string;
  /** Every request so far, as it came. */
  requests: { path: string; headers: IncomingHttpHeaders; text: string }[];
  spans(): CollectedSpan[];
  /** Waits until spans for which this holds were sent, as many as that, and returns them. */
  heard(fits: (span: CollectedSpan) => boolean, count?: number): Promise<CollectedSpan[]>;
}

interface Value {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  boolValue?: boolean;
}

interface WireSpan extends Omit<CollectedSpan, "from" | "to" | "attributes" | "error"> {
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
  status: { code?: number; message?: string };
}

interface Export {
  resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[];
}

/** An OpenTelemetry collector on loopback that takes OTLP as JSON, and answers with this status. */
export async function collector(status = 200): Promise<Collector> {
  const requests: Collector["requests"] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
      requests.push({ path: request.url ?? "", headers: request.headers, text });
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    })();
  });
  // After five silent seconds Node hangs up, perhaps just as the next spans are sent.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const spans = (): CollectedSpan[] =>
    requests
      .flatMap(({ text }) => (JSON.parse(text) as Export).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map(readSpan)));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans,
    heard: (fits, count = 1) =>
      until(async () => {
        const found = spans().filter(fits);
        return found.length >= count ? found : undefined;
      }),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function readSpan({ name, traceId, spanId, parentSpanId, attributes, status, ...times }: WireSpan): CollectedSpan {
  return {
    name,
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    from: Number(BigInt(times.startTimeUnixNano) / 1000n) / 1000,
    to: Number(BigInt(times.endTimeUnixNano) / 1000n) / 1000,
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)])),
    ...(status.code === 2 && { error: status.message ?? "" }),
  };
}

function plain({ stringValue, intValue, doubleValue, boolValue }: Value): unknown {
  return stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue) : Number(intValue));
}
