import { pauseAfter, RESTARTING } from "../../lib/back-off.ts";
import type { Clock } from "../../lib/clock.ts";
import { linesOf } from "../../lib/lines.ts";
import { readObject } from "../agents/json-lines.ts";

/** The server behind an attempt's MCP endpoint. */
export interface McpUpstream {
  serverUrl: string;
  /** The attempt's own key. */
  key: string;
  clock: Clock;
  fetch: typeof globalThis.fetch;
}

export interface UpstreamReply {
  status: number;
  /** The message that answers; empty if the body is empty. */
  text: string;
}

/** The server is not there, is stopping, or asks for patience. */
const AGAIN = [429, 502, 503, 504];

class ServerAway extends Error {}

/**
 * Sends one message to the server, as often as it takes until the server has answered it; every message may be repeated
 * (spec/mcp 4). Rejects only once `signal` is aborted.
 */
export async function askServer(
  upstream: McpUpstream,
  message: { body: string; headers: Readonly<Record<string, string>> },
  { signal, onAway }: { signal: AbortSignal; onAway: () => void },
): Promise<UpstreamReply> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await send(upstream, message, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ServerAway)) throw error;
    }
    onAway();
    await upstream.clock.sleep(pauseAfter(failures, RESTARTING), signal);
    signal.throwIfAborted();
  }
}

async function send(
  { serverUrl, key, fetch }: McpUpstream,
  { body, headers }: { body: string; headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<UpstreamReply> {
  const reply = await away(() =>
    fetch(`${serverUrl.replace(/(?<!\/)\/+$/, "")}/mcp`, {
      method: "POST",
      headers: {
        ...headers,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        authorization: `Bearer ${key}`,
      },
      body,
      signal,
    }),
  );
  const { status } = reply;
  if (AGAIN.includes(status)) {
    await reply.body?.cancel().catch(() => {});
    throw new ServerAway(`status ${status}`);
  }
  const isStream = (reply.headers.get("content-type") ?? "").startsWith("text/event-stream");
  if (!isStream || !reply.body) return { status, text: await away(() => reply.text()) };
  const lines = linesOf(reply.body);
  for (;;) {
    const { done, value: line } = await away(() => lines.next());
    if (done) throw new ServerAway("the reply broke off");
    if (!line.startsWith("data:")) continue;
    const text = line.slice("data:".length).trim();
    if (readObject(text)?.["id"] === undefined) continue;
    await lines.return(undefined);
    return { status, text };
  }
}

async function away<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ServerAway(error instanceof Error ? error.message : String(error));
  }
}
