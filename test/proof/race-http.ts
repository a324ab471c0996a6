import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from "node:http";
import type { Reading } from "./race-log.ts";

/** A request as the race sends it; a body is sent as JSON. */
export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  /** The parsed body; each operation takes what it needs of it. */
  body: Record<string, unknown>;
}

/** Sends one request on a kept connection and reads its whole reply. Not `fetch`, which costs the clients' core twice. */
export async function exchange(agent: Agent, url: string, { method, path, headers, body }: Sent): Promise<Reply> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const length = bytes && { "content-type": "application/json", "content-length": String(bytes.length) };
  const response = await send(url + path, { agent, method, headers: { ...headers, ...length } }, bytes);
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk as string;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

function send(url: string, options: RequestOptions, body?: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, options).once("response", resolve).once("error", reject).end(body);
  });
}

export interface EventText {
  event: string;
  id: string;
  data: string;
}

/** Reads a stream of events from number `after` on, until `signal` is aborted or the server ends it. */
export async function* readEvents(
  url: string,
  headers: Record<string, string>,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<EventText> {
  const sent = { "last-event-id": String(after), ...headers };
  // A connection of its own, as a browser's EventSource has: a kept one may be cut off before it carried anything.
  const response = await send(`${url}/agent/questions/events`, { agent: false, headers: sent, signal });
  if (response.statusCode !== 200) throw new Error(`a stream was refused: ${response.statusCode}`);
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk as string;
    const parts = text.split("\n\n");
    // The text after the last empty line is not a whole event yet.
    text = parts.pop() ?? "";
    for (const part of parts) {
      const fields = new Map(part.split("\n").map((line): [string, string] => fieldOf(line)));
      const [event, id, data] = [fields.get("event"), fields.get("id"), fields.get("data")];
      if (event !== undefined && id !== undefined && data !== undefined) yield { event, id, data };
    }
  }
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}

/** Returns what a poll body shows. */
export function readingFrom(body: Record<string, unknown>): Reading {
  const responses = (body["responses"] ?? []) as { response_id?: string; created_at?: string }[];
  const summary = body["summary"] as Record<string, number> | undefined;
  const settledAt = (body["closed_at"] ?? body["expired_at"]) as string | undefined;
  const named = responses.every((one) => one.response_id !== undefined);
  return {
    ask: String(body["question_id"]),
    status: body["status"] as Reading["status"],
    n: Number(body["current_responses"]),
    need: Number(body["required_responses"]),
    shown: responses.length,
    cancelled: body["cancelled"] === true,
    ...(settledAt !== undefined && { settledAt }),
    ...(named && {
      responses: responses.map((one) => ({ id: String(one.response_id), at: Date.parse(String(one.created_at)) })),
    }),
    ...(summary && { votes: Object.values(summary).reduce((sum, votes) => sum + votes, 0) }),
  };
}
