import { ParleyError } from "@parley/sdk/errors";
import { isPassingStatus, persist } from "@parley/sdk/connection";
import { pauseAfter, RESTARTING } from "../../lib/back-off.ts";
import type { Clock } from "../../lib/clock.ts";
import { linesOf } from "../../lib/lines.ts";

/** A server's MCP endpoint, and how it is reached. */
export interface McpServer {
  serverUrl: string;
  key: string | undefined;
  fetch: typeof globalThis.fetch;
}

/** The server behind an attempt's MCP endpoint, with the attempt's own key. */
export interface McpUpstream extends McpServer {
  key: string;
  clock: Clock;
}

/** A message as it is sent. */
interface Message {
  body: string;
  headers: Readonly<Record<string, string>>;
}

export interface UpstreamReply {
  status: number;
  /** The message that answers; empty if the body is empty. */
  text: string;
}

/** The pause after so many failures of a server that may be restarting, in ms. */
export const pauseMs = (failures: number): number => pauseAfter(failures, RESTARTING);

/**
 * Sends one message to the server, as often as it takes until the server has answered it; every message may be repeated
 * (spec/mcp 4). Rejects only once `signal` is aborted.
 */
export async function askServer(
  upstream: McpUpstream,
  message: Message,
  { signal, onAway }: { signal: AbortSignal; onAway: () => void },
): Promise<UpstreamReply> {
  const send = () =>
    sendOnce(upstream, message, { signal }).catch((error: unknown) => {
      if (!signal.aborted) onAway();
      throw error;
    });
  return persist(send, { signal, clock: upstream.clock, pauseMs });
}

/**
 * Sends one message to the server and resolves with the message that answers it; what comes before goes to `onNotice`.
 *
 * @throws {ParleyError} one that may pass, where the server is away or the reply broke off
 */
export async function sendOnce(
  { serverUrl, key, fetch }: McpServer,
  { body, headers }: Message,
  { signal, onNotice = () => {} }: { signal: AbortSignal; onNotice?: (text: string) => void },
): Promise<UpstreamReply> {
  const reply = await away(() =>
    fetch(`${serverUrl.replace(/(?<!\/)\/+$/, "")}/mcp`, {
      method: "POST",
      headers: {
        ...headers,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body,
      signal,
    }),
  );
  const { status } = reply;
  if (isPassingStatus(status)) {
    await reply.body?.cancel().catch(() => {});
    throw new ParleyError("BAD_REPLY", `status ${status}`, { status });
  }
  const isStream = (reply.headers.get("content-type") ?? "").startsWith("text/event-stream");
  if (!isStream || !reply.body) return { status, text: await away(() => reply.text()) };
  const lines = linesOf(reply.body);
  for (;;) {
    const { done, value: line } = await away(() => lines.next());
    if (done) throw new ParleyError("UNREACHABLE", "the reply broke off");
    if (!line.startsWith("data:")) continue;
    const text = line.slice("data:".length).trim();
    const { id, method } = membersIn(text);
    if (id === undefined) {
      if (typeof method === "string") onNotice(text);
      continue;
    }
    await lines.return(undefined);
    return { status, text };
  }
}

/** @throws {ParleyError} `UNREACHABLE`, with the error as its cause */
async function away<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { cause: inner } = error as { cause?: unknown };
    const says = inner instanceof Error && inner.message !== "" ? inner.message : String(error);
    throw new ParleyError("UNREACHABLE", says, { cause: error });
  }
}

function membersIn(text: string): { id?: unknown; method?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
