import type { RelayErrorCode } from "./executor/wire.ts";
import type { A2hErrorCode, ErrorCode } from "./error-wire.ts";

/** The codes of errors that happen before the server has sent a usable reply. */
export type LocalErrorCode =
  | "UNREACHABLE" // no reply: no network, no server, a cut connection
  | "TIMED_OUT" // no reply within the time this client gives one request
  | "BAD_REPLY" // a reply that no Parley server sends, such as a proxy's error page or a redirect
  | "UNKNOWN_PERSON"; // the name given fits nobody, or more than one person; nobody was asked

/**
 * Every considered "no" of the server, and every failure to reach it.
 *
 * Branch on `code`; `message` is a sentence for people.
 */
export class ParleyError extends Error {
  override readonly name = "ParleyError";
  readonly code: ErrorCode | A2hErrorCode | RelayErrorCode | LocalErrorCode;
  /** The HTTP status; 0 when there was no reply. */
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  /** How long the server asks to be left alone (429 and 503). */
  readonly retryAfterSeconds: number | undefined;
  /** Quote this to the operator of the server. */
  readonly requestId: string | undefined;

  constructor(
    code: ErrorCode | A2hErrorCode | RelayErrorCode | LocalErrorCode,
    message: string,
    more: {
      status?: number;
      details?: Record<string, unknown>;
      retryAfterSeconds?: number;
      requestId?: string;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.status = more.status ?? 0;
    this.details = more.details ?? {};
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.requestId = more.requestId;
  }

  /** True when the same request may succeed later without being changed, and trying soon is welcome. */
  get isPassing(): boolean {
    return (this.status === 0 && this.code !== "BAD_REPLY") || this.status >= 500;
  }
}
