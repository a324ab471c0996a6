import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** One webhook, as it came. */
export interface ReceivedEvent {
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  path: string;
  /** The exact bytes. */
  bytes: Buffer;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  body: any;
}

export interface AgentServer extends AsyncDisposable {
  told: ReceivedEvent[];
  url: string;
}

/** An agent's own server, which replies with the given statuses and records its requests. */
export async function openAgentServer(statuses: number[] = []): Promise<AgentServer> {
  const told: ReceivedEvent[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { headers, rawHeaders, url = "" } = request;
      const bytes = Buffer.concat(parts);
      const text = bytes.toString();
      told.push({ headers, rawHeaders, path: url, bytes, text, body: JSON.parse(text) });
      response.writeHead(statuses.shift() ?? 200, { location: "/elsewhere" }).end("heard");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    told,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
