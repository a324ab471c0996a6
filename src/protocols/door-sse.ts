import type { FastifyReply, FastifyRequest } from "fastify";
import type { DoorContext } from "./door.ts";

/** One event on a stream. `data` is one line of JSON. */
export interface ServerSentEvent {
  event: string;
  data: string;
  id?: string;
}

const RETRY_MS = 2000;
/** A reader who lets more than this pile up is cut off; it resumes where it was. */
const MOST_BUFFERED_BYTES = 1_048_576;

/**
 * Sends events until they end, the client goes, or the server stops. A comment every few seconds shows that the stream
 * lives; a reader that does not drain costs at most 1 MiB (invariants.md, S5, S7). Whatever may be refused is refused
 * before this is called: the status has been sent.
 */
export async function sendEvents(
  door: DoorContext,
  request: FastifyRequest,
  reply: FastifyReply,
  open: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
): Promise<void> {
  const { ctx, config } = door;
  reply.type("text/event-stream; charset=utf-8").header("cache-control", "no-store").header("x-accel-buffering", "no");
  if (request.method === "HEAD") {
    await reply.send();
    return;
  }
  const gone = new AbortController();
  const { raw } = reply;
  raw.once("close", () => gone.abort());

  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200);
  raw.write(`retry: ${RETRY_MS}\n\n`);
  const beating = beat(door, gone.signal, (text) => write(text));

  function write(text: string): void {
    if (gone.signal.aborted) return;
    raw.write(text);
    if (raw.writableLength > MOST_BUFFERED_BYTES) raw.destroy();
  }

  try {
    for await (const { event, data, id } of open(gone.signal)) {
      write(`event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`);
      if (gone.signal.aborted) break;
    }
    if (ctx.stopping.aborted) write(`retry: ${RETRY_MS}\n\n`);
  } catch (error) {
    ctx.log.warn({ err: error, requestId: request.id }, "a stream broke off");
  } finally {
    gone.abort();
    raw.end();
    await beating;
  }

  async function beat(
    { ctx: { clock } }: DoorContext,
    signal: AbortSignal,
    say: (text: string) => void,
  ): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(config.sseHeartbeatS * 1000, signal);
      say(": still here\n\n");
    }
  }
}

/** Reads `Last-Event-ID` as a number, where it is one. */
export function lastEventId(request: FastifyRequest): number | undefined {
  const value = request.headers["last-event-id"];
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
