import { pause } from "./clock.ts";
import { ParleyError } from "./errors.ts";
import { type CallOptions, type Connection, jitter } from "./http.ts";
import { mayPass } from "./persist.ts";

export interface StreamEvent {
  event: string;
  data: string;
  id: string | undefined;
}

interface Frame extends StreamEvent {
  retryMs: number | undefined;
}

/** Yields each event of a `text/event-stream` body; ends when the body does. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let frame = emptyFrame();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A lone CR at the very end may be the first half of CRLF, so it waits for the next chunk.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== "") {
          readLine(frame, line);
          continue;
        }
        if (frame.data !== "" || frame.retryMs !== undefined) yield { ...frame, data: frame.data.slice(0, -1) };
        frame = { ...emptyFrame(), id: frame.id };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function emptyFrame(): Frame {
  return { event: "message", data: "", id: undefined, retryMs: undefined };
}

function readLine(frame: Frame, line: string): void {
  const colon = line.indexOf(":");
  if (colon === 0) return;
  const field = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (field === "event") frame.event = value;
  else if (field === "data") frame.data += `${value}\n`;
  else if (field === "id") frame.id = value;
  else if (field === "retry" && /^\d+$/.test(value)) frame.retryMs = Number(value);
}

/**
 * Yields the events of a stream for as long as the caller takes them, reconnecting where it was cut.
 *
 * `onConnect` runs at every (re)connection: a caller whose picture the stream only amends reads it again there. Ends by
 * itself when the server says there is nothing more.
 *
 * @throws {ParleyError} what a retry cannot cure (401, 404), or the signal's reason
 */
export async function* follow(
  connection: Connection,
  path: string,
  options: CallOptions & {
    onConnect?: () => void;
    onDisconnect?: () => void;
  } = {},
): AsyncGenerator<StreamEvent> {
  let lastId: string | undefined;
  let retryMs = 2000;
  let failures = 0;
  for (;;) {
    let waitMs = retryMs;
    try {
      const body = await connection.open(path, {
        ...options,
        headers: { "last-event-id": lastId },
      });
      if (body === null) return;
      failures = 0;
      options.onConnect?.();
      for await (const { retryMs: asked, ...event } of readEvents(body)) {
        retryMs = asked ?? retryMs;
        lastId = event.id ?? lastId;
        if (event.data !== "") yield event;
      }
      waitMs = retryMs;
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (error instanceof ParleyError && !mayPass(error)) throw error;
      const asked = error instanceof ParleyError ? error.retryAfterSeconds : undefined;
      waitMs = asked !== undefined ? asked * 1000 : jitter(Math.min(retryMs * 2 ** failures++, 60_000));
    }
    options.onDisconnect?.();
    await pause(connection.clock, waitMs, options.signal);
  }
}
