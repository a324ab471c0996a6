/** Where in somebody else's trace something belongs. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** The caller that began the trace records it. */
  isSampled: boolean;
}

const SHAPE = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses a `traceparent` (W3C Trace Context: version 00, and the parts that later versions keep). Returns null if the
 * text is invalid.
 */
export function readTraceParent(text: unknown): TraceParent | null {
  const match = typeof text === "string" ? SHAPE.exec(text) : null;
  if (!match) return null;
  const [, version = "", traceId = "", spanId = "", flags = "", more] = match;
  if (version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
