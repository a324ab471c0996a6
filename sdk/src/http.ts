import { type Clock, pause, platformClock } from "./clock.ts";
import { ParleyError } from "./errors.ts";
import type { ErrorBody, ErrorCode } from "./error-wire.ts";

export interface ConnectionOptions {
  /** Where the server is, for example `http://127.0.0.1:3415`; a path prefix is kept. */
  url: string;
  /** Replaces the platform's fetch. */
  fetch?: typeof globalThis.fetch;
  /** How long one request may take. */
  timeoutMs?: number;
  /** How often a request that is safe to repeat is repeated when the server cannot be reached or is failing. */
  retries?: number;
  /** Replaces `JSON.parse` for the bodies of replies, such as by a parser that keeps the digits of long integers. */
  parse?: (text: string) => unknown;
  /** Replaces the platform's clock for the pauses between requests; `timeoutMs` is by the platform's. */
  clock?: Clock;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface Call extends CallOptions {
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  /** Sent as it is, in the place of a JSON body. */
  bytes?: BodyInit;
  /** Sent as `Idempotency-Key`; it also makes a POST safe to repeat. */
  idempotencyKey?: string | undefined;
  /** Says that a POST is safe to repeat although it carries no such header. */
  repeatable?: boolean;
  headers?: Record<string, string | undefined>;
  timeoutMs?: number;
  /** Resolve with the body as it is, and not with what it says as JSON. */
  asText?: boolean;
}

/** The platform's fetch, for connections alone: they follow nobody who leads elsewhere. */
export const platformFetch: typeof globalThis.fetch = (...args) => globalThis.fetch(...args);

/** One server, and how to speak to it. */
export class Connection {
  /** The time that this connection waits by. */
  readonly clock: Clock;
  readonly #base: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #parse: (text: string) => unknown;
  readonly #headers: () => Record<string, string | undefined>;
  readonly #onReply: (reply: Response) => void;

  constructor(
    options: ConnectionOptions,
    headers: () => Record<string, string | undefined>,
    onReply: (reply: Response) => void = () => {},
  ) {
    this.#base = options.url.replace(/(?<!\/)\/+$/, "");
    this.#fetch = options.fetch ?? platformFetch;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#retries = options.retries ?? 2;
    this.#parse = options.parse ?? JSON.parse;
    this.clock = options.clock ?? platformClock;
    this.#headers = headers;
    this.#onReply = onReply;
  }

  /** Returns the address of something on the server. */
  addressOf(path: string): string {
    return this.#base + path;
  }

  /**
   * Resolves with the parsed body of a 2xx reply, or with undefined when it has none.
   *
   * Reads, deletions and writes under an idempotency key are repeated when the server cannot be reached
   * or fails, so one lost packet is not one lost question.
   *
   * @throws {ParleyError}, or the signal's reason when it is aborted
   */
  async call<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const safe = method !== "POST" || call.idempotencyKey !== undefined || call.repeatable === true;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once<T>(method, path, call);
      } catch (error) {
        const again = safe && attempt < this.#retries && error instanceof ParleyError && error.isPassing;
        if (!again) throw error;
        const ms = Math.min((error.retryAfterSeconds ?? 0) * 1000 || jitter(250 * 2 ** attempt), 5000);
        await pause(this.clock, ms, call.signal);
      }
    }
  }

  /** Resolves with the open reply of an event stream, or null when the server says there is nothing more (204). */
  async open(path: string, call: Call = {}): Promise<ReadableStream<Uint8Array> | null> {
    const reply = await this.#send("GET", path, {
      ...call,
      headers: { ...call.headers, accept: "text/event-stream" },
    });
    if (!reply.ok) throw await refusalOf(reply);
    return reply.status === 204 ? null : reply.body;
  }

  async #once<T>(method: string, path: string, call: Call): Promise<T> {
    const deadline = AbortSignal.timeout(call.timeoutMs ?? this.#timeoutMs);
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
    try {
      const reply = await this.#send(method, path, { ...call, signal });
      if (!reply.ok) throw await refusalOf(reply);
      if (reply.status === 204) return undefined as T;
      return (await bodyOf(reply, call.asText ? String : this.#parse)) as T;
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      if (deadline.aborted) {
        throw new ParleyError("TIMED_OUT", "The server did not reply in time.", { cause: error });
      }
      throw error;
    }
  }

  async #send(method: string, path: string, call: Call): Promise<Response> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) query.set(name, String(value));
    }
    const headers = new Headers();
    const wanted = {
      accept: "application/json",
      ...this.#headers(),
      ...call.headers,
    };
    for (const [name, value] of Object.entries(wanted)) {
      if (value !== undefined) headers.set(name, value);
    }
    if (call.body !== undefined) headers.set("content-type", "application/json");
    if (call.idempotencyKey !== undefined) headers.set("idempotency-key", call.idempotencyKey);
    const search = query.size > 0 ? `?${query}` : "";

    try {
      const reply = await this.#fetch(this.addressOf(path) + search, {
        method,
        headers,
        body: call.bytes ?? (call.body === undefined ? null : JSON.stringify(call.body)),
        signal: call.signal ?? null,
        // The server never redirects. A redirect comes from somebody else, who gets neither key nor body.
        redirect: "manual",
      });
      if (isRedirect(reply)) throw redirected(reply, this.#base);
      this.#onReply(reply);
      return reply;
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      if (error instanceof ParleyError) throw error;
      throw new ParleyError("UNREACHABLE", "The server could not be reached.", {
        cause: error,
      });
    }
  }
}

/** Returns a time between half of `ms` and all of it, so that clients that failed together do not come back together. */
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

/** True for a reply that leads elsewhere; a browser does not say where. */
function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
}

function redirected({ headers, status }: Response, from: string): ParleyError {
  const message = `The server at ${originOf(from)} redirects to ${originOf(headers.get("location"), from)}, where nothing was sent: set PARLEY_URL (or url) to the address of the server itself.`;
  return new ParleyError("BAD_REPLY", message, { status });
}

/** Returns the origin of an address and nothing else of it: its path may hold a key. */
function originOf(address: string | null, base?: string): string {
  const isAddress = address !== null && URL.canParse(address, base);
  const { origin } = isAddress ? new URL(address, base) : { origin: "null" };
  return origin === "null" ? "another address" : origin;
}

/** Returns a body as `parse` reads it. @throws {ParleyError} `UNREACHABLE` where it breaks off, `BAD_REPLY` for another */
async function bodyOf(reply: Response, parse: (text: string) => unknown): Promise<unknown> {
  const text = await reply.text().catch((cause: unknown) => {
    throw new ParleyError("UNREACHABLE", "The connection was cut before the whole reply came.", { cause });
  });
  try {
    return parse(text);
  } catch (cause) {
    throw new ParleyError("BAD_REPLY", "The reply is not what a Parley server sends.", { status: reply.status, cause });
  }
}

async function refusalOf(reply: Response): Promise<ParleyError> {
  const more = {
    status: reply.status,
    retryAfterSeconds: Number(reply.headers.get("retry-after")) || undefined,
    requestId: reply.headers.get("x-request-id") || undefined,
  };
  const body = (await bodyOf(reply, JSON.parse).catch(() => null)) as Partial<ErrorBody> | null;
  if (!body?.error?.code) {
    return new ParleyError("BAD_REPLY", `The server replied with status ${reply.status}.`, more);
  }
  const { code, message, details, ...facts } = body.error;
  // The code of a door that speaks JSON-RPC is a number.
  return new ParleyError(String(code) as ErrorCode, message, { ...more, details: details ?? facts });
}
