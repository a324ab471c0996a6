/** A stretch of time in a trace, recorded when it is over. */
export interface Span {
  name: string;
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  parentId?: string;
  /** Epoch milliseconds. */
  from: number;
  to: number;
  /** Ids, types and numbers; never what somebody wrote. */
  attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Why it failed, as a code; absent where it did not. */
  error?: string;
}

/** Records spans. The caller makes their ids, so that a span may end on another server than it began on. */
export interface Tracer {
  /** Whether anybody wants to know: without a collector nothing need be made. */
  isOn: boolean;
  /** Takes a span along; never throws, and never waits. */
  record(span: Span): void;
  /** Sends what is left, within two seconds; never throws. */
  close(): Promise<void>;
}

/** Takes nothing along. */
export const NO_TRACER: Tracer = { isOn: false, record: () => undefined, close: () => Promise.resolve() };
