import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

interface Arrived {
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Receiver extends AsyncDisposable {
  origin: string;
  /** Everything that arrived, in order. */
  arrived: Arrived[];
  /** The replies to the next requests; the default is 200. */
  replies: { status: number; headers?: Record<string, string> }[];
}

/** A program of the operator's own that receives asks over HTTP. */
export async function openReceiver(): Promise<Receiver> {
  const arrived: Receiver["arrived"] = [];
  const replies: Receiver["replies"] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const part of request) text += String(part);
      arrived.push({ headers: request.headers, text });
      const { status, headers } = replies.shift() ?? { status: 200 };
      response.writeHead(status, headers).end();
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    replies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
