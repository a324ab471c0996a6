import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { refuseFields } from "../../core/model/field-problem.ts";
import type { DoorContext } from "./door.ts";
import { MOST_WHOLE, queryNumber, wholeNumber } from "./query.ts";
import { isStillGood, whenNoLongerGood } from "./held.ts";
import { setLimitHeaders } from "./limits.ts";

/** One event on a stream. `data` is one line of JSON. */
export interface ServerSentEvent {
  event: string;
  data: string;
  id?: string;
}

const RETRY_MS = 2000;
/** A reader who lets more than this pile up is cut off; it resumes where it was. */
const MOST_BUFFERED_BYTES = 1_048_576;

/** A reply that goes on: its status is sent, so whatever may be refused is refused before it is opened. */
export interface EventStream {
  /** Aborted when the client has gone, or the stream has ended. */
  gone: AbortSignal;
  write(text: string): void;
  end(): void;
}

/**
 * Opens an event stream and sends its head and first words at once. A reader that does not drain costs at most 1 MiB
 * (spec/invariants S5).
 */
export function openEventStream(reply: FastifyReply, firstWords: string): EventStream {
  reply.type("text/event-stream; charset=utf-8").header("cache-control", "no-store").header("x-accel-buffering", "no");
  // Its connection ends with it: a server that stops would else wait for one that nobody uses.
  reply.header("connection", "close");
  const gone = new AbortController();
  const { raw } = reply;
  raw.once("close", () => gone.abort());
  // A client may go while its request is checked: then it gets no reply.
  if (raw.destroyed) gone.abort();

  reply.hijack();
  // Handed over as they are sent: set one by one, a waiting request would keep them all.
  raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
  // Sent alone, the head becomes one string; else each of its forty pieces stays for as long as the stream does.
  raw.flushHeaders();

  function write(text: string): void {
    if (gone.signal.aborted) return;
    raw.write(text);
    if (raw.writableLength > MOST_BUFFERED_BYTES) raw.destroy();
  }
  write(firstWords);
  return {
    gone: gone.signal,
    write,
    end() {
      gone.abort();
      raw.end();
    },
  };
}

/** Calls `say` every heartbeat until `over`, so that whoever waits sees that the stream lives. */
export async function beat({ ctx, config }: DoorContext, over: AbortSignal, say: () => void): Promise<void> {
  while (!over.aborted) {
    await ctx.clock.sleep(config.sseHeartbeatS * 1000, over);
    if (!over.aborted) say();
  }
}

/**
 * Sends events until they end, the client goes, or the server stops (spec/invariants S7). The stream also ends once the
 * caller's key is revoked or its session has ended (spec/invariants T7).
 */
export async function sendEvents(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
  open: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
): Promise<void> {
  const { ctx } = door;
  if (http.facts.limit) setLimitHeaders(reply, http.facts.limit);
  if (http.method === "HEAD") {
    reply.header("cache-control", "no-store").header("x-accel-buffering", "no");
    await reply.type("text/event-stream; charset=utf-8").send();
    return;
  }
  const stream = openEventStream(reply, `retry: ${RETRY_MS}\n\n`);
  const beating = beat(door, stream.gone, () => stream.write(": still here\n\n"));
  using _watch = whenNoLongerGood(door, http, stream.end);
  try {
    for await (const { event, data, id } of open(stream.gone)) {
      if (!(await isStillGood(door, http))) break;
      stream.write(`event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`);
      if (stream.gone.aborted) break;
    }
    if (ctx.stopping.aborted) stream.write(`retry: ${RETRY_MS}\n\n`);
  } catch (error) {
    ctx.log.warn({ err: error, requestId: http.id }, "a stream broke off");
  } finally {
    stream.end();
    await beating;
  }
}

const ANY_EVENT = { min: 0, max: MOST_WHOLE };

/**
 * Returns the last event that a reader has, by its `Last-Event-ID`; one that never was where that is no number, so that
 * the reader gets everything anew. Nothing where the header is missing or empty.
 */
export function lastEventId(http: FastifyRequest): number | undefined {
  const value = http.headers["last-event-id"];
  if (typeof value !== "string" || value === "") return undefined;
  return wholeNumber(value, ANY_EVENT) ?? Number.MAX_SAFE_INTEGER;
}

/**
 * Returns the same, else the number that `?after=` names.
 *
 * @throws {Refusal} `invalid_input` for an `after` that is no number
 */
export function sinceOf(http: FastifyRequest): { since?: number } {
  const since = lastEventId(http) ?? queryNumber(http.query, "after", ANY_EVENT);
  if (since !== null) return since === undefined ? {} : { since };
  throw refuseFields([{ message: "after is not an event's number", field: "after", constraint: "format" }]);
}
