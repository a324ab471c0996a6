import type { Clock } from "../../lib/clock.ts";

/** An agent's way to a server, by plain HTTP: the packages between would mend what is looked for. */
export interface Client {
  url: string;
  key: string | undefined;
  /** The variable that the key is read from, by which the operator knows it. */
  keyVariable: "PARLEY_KEY" | "A2H_API_KEY";
  fetch: typeof globalThis.fetch;
  clock: Clock;
  signal: AbortSignal;
}

/** A server's reply, and when it came. */
export interface ServerReply {
  /** 0 when nothing did. */
  status: number;
  text: string;
  /** The parsed text, or an empty object. */
  json: object;
  isStream: boolean;
  /** When the first data of the body came, and when its end did. */
  firstMs: number;
  tookMs: number;
  /** Why there was no reply, or no end of it. */
  cut?: string;
  limit?: { limit: number; remaining: number; resetS: number };
  retryAfterS?: number;
}

/** How long a reply may take that nobody holds. */
const PATIENCE_MS = 10_000;

/** Returns what a server says to one request; that it says nothing is an answer too. @throws the signal's reason */
export async function serverSays(
  { url, key, fetch, clock, signal }: Client,
  method: string,
  path: string,
  { body, holdMs = 0 }: { body?: object; holdMs?: number } = {},
): Promise<ServerReply> {
  const start = clock.monotonic();
  const over = new AbortController();
  const late = new AbortController();
  void clock.sleep(holdMs + PATIENCE_MS, over.signal).then(() => late.abort());
  const serverReply: ServerReply = { status: 0, text: "", json: {}, isStream: false, firstMs: 0, tookMs: 0 };
  try {
    const reply = await fetch(url + path, {
      method,
      redirect: "manual",
      signal: AbortSignal.any([signal, late.signal]),
      headers: {
        accept: path === "/mcp" ? "application/json, text/event-stream" : "application/json",
        ...(body && { "content-type": "application/json" }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    serverReply.status = reply.status;
    serverReply.isStream = reply.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    readHeaders(reply.headers, serverReply);
    for await (const part of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      serverReply.text += part;
      if (serverReply.firstMs === 0 && /^data:/m.test(serverReply.text))
        serverReply.firstMs = clock.monotonic() - start;
    }
    serverReply.json = objectIn(serverReply.text);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    serverReply.cut = over.signal.aborted || late.signal.aborted ? "no reply in time" : causeOf(error);
  } finally {
    over.abort();
    serverReply.tookMs = clock.monotonic() - start;
  }
  return serverReply;
}

function readHeaders(headers: Headers, reply: ServerReply): void {
  const number = (name: string) => Number(headers.get(name) ?? Number.NaN);
  const [limit, remaining, resetS] = [
    number("x-ratelimit-limit"),
    number("x-ratelimit-remaining"),
    number("x-ratelimit-reset"),
  ];
  if (!Number.isNaN(limit + remaining + resetS)) reply.limit = { limit, remaining, resetS };
  const retryAfterS = number("retry-after");
  if (!Number.isNaN(retryAfterS)) reply.retryAfterS = retryAfterS;
}

function objectIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function causeOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && cause.message === "" ? String(cause.code) : cause.message;
}
