import type { Agent, IncomingMessage } from "node:http";
import { Redirected, REDIRECTS } from "./fetch.ts";
import { isOwnName } from "./reach.ts";

/** A request as it is sent. */
export interface HttpSent {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** A whole reply. */
export interface HttpReceived {
  status: number;
  bytes: Uint8Array;
}

/** A server sent more than any reply of Parley has. */
export class TooLong extends Error {
  constructor(address: string) {
    super(`The reply of ${new URL(address).host} is too long.`);
  }
}

/** An approval whose edited arguments are as long as an event of an agent may be. */
const LONGEST_REPLY_BYTES = 64_000_000;

/**
 * Sends one request and resolves with the whole reply. It follows nobody who sends it on.
 *
 * @throws {Redirected}, {TooLong}, and Error where no whole reply came
 */
export type HttpExchange = (address: string, sent: HttpSent) => Promise<HttpReceived>;

/**
 * The exchange of this machine, by Node's HTTP client: it starts in a fraction of the time and memory of `fetch`. A
 * request for this very computer goes to no proxy of the environment; Node's own connections know of those.
 */
export const systemExchange: HttpExchange = async (address, { method, headers, body, signal }) => {
  const url = new URL(address);
  // Basic authentication would take the place of the key.
  if (url.username !== "" || url.password !== "") throw new TypeError("An address holds no name and no password.");
  const isSecure = url.protocol === "https:";
  // An import as a module brings fetch along, and what is not needed costs each start.
  const client = isSecure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  const agent = isOwnName(url.hostname) ? directAgent(isSecure, client.Agent) : client.globalAgent;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const request = client.request(url, { method, headers: { ...headers, ...length }, agent, signal }, resolve);
  request.on("error", reject);
  request.end(body);
  const reply = await promise;
  const status = reply.statusCode ?? 0;
  if (REDIRECTS.includes(status)) {
    reply.destroy();
    const to = reply.headers.location ?? "";
    throw new Redirected(address, URL.parse(to, address)?.href ?? to);
  }
  const parts: Buffer[] = [];
  let byteLength = 0;
  // The end of the loop ends the connection too.
  for await (const part of reply as AsyncIterable<Buffer>) {
    byteLength += part.length;
    if (byteLength > LONGEST_REPLY_BYTES) throw new TooLong(address);
    parts.push(part);
  }
  return { status, bytes: Buffer.concat(parts) };
};

const direct: Partial<Record<"http" | "https", Agent>> = {};

/** Returns the connections of this process that use no proxy. */
function directAgent(isSecure: boolean, Connections: typeof Agent): Agent {
  return (direct[isSecure ? "https" : "http"] ??= new Connections({ keepAlive: true }));
}
